"""`meijin bot`: run, write, register, list and manage bots."""

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from meijin.bots import bot_source, load_bot
from meijin.bots import run as run_bot
from meijin.cli.bot_details import bot_lines, result_tables, results_note, version_table
from meijin.cli.bot_lists import bot_table
from meijin.cli.bot_options import (
    BotProgramArgument,
    BotSettingsOption,
    HardwareOption,
    OwnTokenOption,
    ProgramCommand,
    TurnLogOption,
    start_turn_log,
)
from meijin.cli.commands.bench import bench
from meijin.cli.commands.doctor import doctor
from meijin.cli.commands.engines import engine, wrap
from meijin.cli.completion import registered
from meijin.cli.connection import PAGE, Connection, JsonOption, Server, pages, with_server
from meijin.cli.errors import CommandError
from meijin.cli.listing import OLDER, USUAL_LIMIT, LimitOption, read_list
from meijin.cli.output import console, print_json, printable, rate_text, table
from meijin.cli.private_files import private_file
from meijin.v1 import bot_service_pb2 as pb
from meijin.v1 import token_service_pb2 as token_pb
from meijin.wire.contract import TOKEN_VARIABLE
from meijin.wire.enums import value_of, word_of

app = typer.Typer(help="Run, write, register, list and manage bots.", no_args_is_help=True)

app.command()(wrap)
app.command()(engine)
app.command()(bench)
app.command(cls=ProgramCommand)(doctor)

BotArgument = Annotated[str, typer.Argument(help="The bot.", autocompletion=registered)]


class State(str, Enum):
    """Whether a bot may play."""

    ACTIVE = "active"
    DISABLED = "disabled"
    BANNED = "banned"


class Accepted(str, Enum):
    """Whose challenges a bot accepts."""

    NONE = "none"
    OWNERS = "owners"
    ANYONE = "anyone"


ACCEPTED = {
    Accepted.NONE: "nobody but its own owner",
    Accepted.OWNERS: "bots' owners",
    Accepted.ANYONE: "bots' owners and of people",
}

DIGEST_LENGTH = 12
"""Digits of a digest that tell versions of a bot apart."""


@app.command()
@with_server
def run(
    server: Server,
    bot: BotProgramArgument,
    options: BotSettingsOption = None,
    name: Annotated[str | None, typer.Option(help="Play under this name.")] = None,
    token: OwnTokenOption = None,
    threads: Annotated[int, typer.Option(min=1, help="Searches that run at once.")] = 1,
    hardware: HardwareOption = None,
    log: TurnLogOption = None,
) -> None:
    """Connect a bot to a server and play until Ctrl-C."""
    loaded = load_bot(bot, options or ())
    start_turn_log(log, name or loaded.name)
    try:
        run_bot(
            loaded,
            server=server.address,
            security=server.security,
            token=token,
            name=name,
            threads=threads,
            hardware=hardware,
        )
    except ValueError as error:
        raise CommandError(str(error)) from None


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="What the bot is called.")],
    path: Annotated[
        Path | None, typer.Option(help="The file to write; NAME.py in this folder else.")
    ] = None,
) -> None:
    """Write a working bot to start from."""
    target = path or Path(f"{name.replace('-', '_')}.py")
    try:
        source = bot_source(name)
        with target.open("x", encoding="utf-8") as file:
            file.write(source)
    except ValueError as error:
        raise CommandError(str(error)) from None
    except FileExistsError:
        raise CommandError(f"{target} exists; give another --path") from None
    except OSError as error:
        raise CommandError(f"can't write {target}: {error.strerror}") from None
    console.print(f"wrote {target}; let it play: meijin bot run {target}")


@app.command("list")
@with_server
def list_(
    connection: Connection,
    connected: Annotated[bool, typer.Option(help="Only bots that are there now.")] = False,
    with_all: Annotated[
        bool, typer.Option("--all", help="Hidden ones too: an owner's own, or an operator's all.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List the bots of a server."""
    response = pb.ListBotsResponse()
    request = pb.ListBotsRequest(connected=connected, page_size=PAGE)
    ask = connection.ask_with_token if with_all else connection.ask
    for page in pages(ask, connection.bots.ListBots, request):
        response.bots.extend(page.bots)
    if as_json:
        print_json(response)
        return
    console.print(bot_table(response.bots, datetime.now(UTC)))


@app.command()
@with_server
def show(connection: Connection, name: BotArgument, as_json: JsonOption = False) -> None:
    """Show a bot: its versions, and its results by colour, opponent, ending and opening."""
    request = pb.GetBotRequest(name=name, with_results=True)
    response = connection.ask(connection.bots.GetBot, request)
    if as_json:
        print_json(response)
        return
    for line in bot_lines(response.bot, datetime.now(UTC)):
        console.print(line)
    console.print(version_table(response.bot, response.versions))
    if response.results.games:
        console.print(results_note(response.results))
        for each in result_tables(response.results):
            console.print(each)


@app.command()
@with_server
def versions(
    connection: Connection,
    name: BotArgument,
    limit: LimitOption = USUAL_LIMIT,
    as_json: JsonOption = False,
) -> None:
    """List the versions of a bot, newest first: each has a rating of its own."""
    response = read_list(
        connection.ask,
        connection.bots.ListBotVersions,
        pb.ListBotVersionsRequest(name=name),
        rows=lambda response: response.versions,
        limit=limit,
    )
    if as_json:
        print_json(response)
        return
    titles = ("version", "since (UTC)", "settings", "hardware", "nodes/s", "digest")
    made = table(f"Versions of {name}", titles, text_columns=len(titles))
    for version in response.versions:
        made.add_row(
            version.version,
            f"{version.create_time.ToDatetime():%Y-%m-%d %H:%M}",
            " ".join(version.configuration),
            version.hardware,
            rate_text(version.nodes_per_second),
            version.digest[:DIGEST_LENGTH],
        )
    console.print(made)
    if response.next_page_token:
        console.print(OLDER)


@app.command()
@with_server
def register(
    connection: Connection,
    name: Annotated[str, typer.Argument(help="1 to 40 letters, digits, -, _ or .")],
    owner: Annotated[str, typer.Option(help="Who it belongs to.")] = "",
    display_name: Annotated[
        str, typer.Option(help="What people call it, in any script; at most 60 characters.")
    ] = "",
    rotate: Annotated[
        bool, typer.Option("--rotate", help="A new token for a known bot; the old one stops.")
    ] = False,
    save: Annotated[
        Path | None,
        typer.Option(help="Write the token to a file that you alone may read, and don't print it."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Register a bot and print its token, which is shown this once."""
    with ExitStack() as stack:
        file = save and stack.enter_context(private_file(save, is_new=not rotate))
        secret = _register(connection, name, owner, display_name, rotate=rotate)
        if file:
            print(printable(secret), file=file)
    if save:
        _tell_saved(name, save, as_json=as_json)
    elif as_json:
        print_json({"name": name, "token": secret})
    else:
        typer.echo(printable(secret))
        typer.echo(
            f"Keep it: it is not shown again. {name} plays with {TOKEN_VARIABLE} set to it.",
            err=True,
        )


def _register(
    connection: Connection, name: str, owner: str, display_name: str, *, rotate: bool
) -> str:
    """The token of a bot that is new, or of one that is known."""
    bots = connection.bots
    if rotate:
        renewed = token_pb.RotateTokenRequest(bot=name)
        return connection.ask_with_token(connection.tokens.RotateToken, renewed).secret
    made = pb.RegisterBotRequest(name=name, owner=owner, display_name=display_name)
    return connection.ask_with_token(bots.RegisterBot, made).token


def _tell_saved(name: str, path: Path, *, as_json: bool) -> None:
    if as_json:
        print_json({"name": name, "file": str(path)})
        return
    console.print(f"the token of {name} is in {path}; it plays with {TOKEN_VARIABLE}=$(cat {path})")


@app.command("set")
@with_server
def set_(
    connection: Connection,
    name: BotArgument,
    state: Annotated[
        State | None, typer.Option(help="Whether it may play; operators alone ban, and lift a ban.")
    ] = None,
    reason: Annotated[
        str, typer.Option(help="Why it may not play, in a sentence; it is told to the bot.")
    ] = "",
    hidden: Annotated[
        bool | None,
        typer.Option("--hidden/--shown", help="Out of lists and ladder tables, or in them."),
    ] = None,
    unpause: Annotated[
        bool, typer.Option("--unpause", help="Have it play again that was paused for its forfeits.")
    ] = False,
    challenges: Annotated[
        Accepted | None,
        typer.Option(help="Whose it accepts: nobody's, those of bots' owners, of people too."),
    ] = None,
    new_name: Annotated[
        str | None,
        typer.Option("--name", help="Another name: 1 to 40 letters, digits, -, _ or . Operators."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Change a bot. One that may not play forfeits its running games after its grace.

    A renamed bot's games, token and process go on; a hidden one stays in the records of its games.
    """
    request = pb.UpdateBotRequest(
        name=name,
        new_name=new_name,
        state=None if state is None else value_of(pb.BotState, state),
        reason=reason,
        hidden=hidden,
        paused=False if unpause else None,
        challenges=None if challenges is None else value_of(pb.ChallengePolicy, challenges),
    )
    response = connection.ask_with_token(connection.bots.UpdateBot, request)
    if as_json:
        print_json(response)
    else:
        console.print(*_changed(response.bot, request), sep="\n")


def _changed(bot: pb.Bot, request: pb.UpdateBotRequest) -> Iterator[str]:
    """What a bot is after a change."""
    reason = f": {bot.reason}" if bot.reason else ""
    yield f"{bot.name} is {word_of(pb.BotState, bot.state)}{reason}{', and hidden' if bot.hidden else ''}"
    if request.HasField("challenges"):
        whose = ACCEPTED[Accepted(word_of(pb.ChallengePolicy, bot.challenges))]
        yield f"{bot.name} accepts the challenges of {whose}"

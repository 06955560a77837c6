"""`meijin bot`: run, write, register, list and manage bots."""

from contextlib import ExitStack
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from meijin.bots import bot_source, load_bot
from meijin.cli.bot.bench import bench
from meijin.cli.bot.doctor.command import doctor
from meijin.cli.bot.engines import engine, wrap
from meijin.cli.bot.options import (
    BotProgramArgument,
    BotSettingsOption,
    HardwareOption,
    OwnTokenOption,
    ProgramCommand,
    TurnLogOption,
    play,
    start_turn_log,
)
from meijin.cli.bot.program.commands import app as programs
from meijin.cli.bot.program.project import write_project
from meijin.cli.bot.program.upload import upload
from meijin.cli.bot.seeking import NO_SEEK, SeekOptions, owners_token, seeker
from meijin.cli.bot.tables import (
    VERSIONS,
    bot_lines,
    bot_table,
    lineage_table,
    result_tables,
    results_note,
)
from meijin.cli.command import (
    USUAL_LIMIT,
    Commands,
    LimitOption,
    Output,
    list_lines,
    list_output,
    option,
)
from meijin.cli.completion import registered
from meijin.cli.errors import CommandError
from meijin.cli.files import SaveOption, private_file
from meijin.cli.output import console, print_secret, printable
from meijin.cli.profile import Profile
from meijin.local.connection import Connection, read_list
from meijin.v1 import bot_service_pb2 as pb
from meijin.v1 import token_service_pb2 as token_pb
from meijin.wire.contract import TOKEN_VARIABLE
from meijin.wire.enums import value_of, word_of

app = Commands()

app.command()(wrap)
app.command()(engine)
app.command()(bench)
app.command(cls=ProgramCommand)(doctor)
app.command()(upload)
app.add_typer(programs, name="program", help="List, show and change programs that the arena runs.")

BotArgument = Annotated[str, typer.Argument(help="The bot.", autocompletion=registered)]


class WantedState(str, Enum):
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
    "none": "nobody but its own owner",
    "owners": "bots' owners",
    "anyone": "bots' owners and of people",
}


@app.command()
def run(
    profile: Profile,
    bot: BotProgramArgument,
    options: BotSettingsOption = None,
    name: Annotated[str | None, "Play under this name."] = None,
    token: OwnTokenOption = None,
    threads: Annotated[int, option("Searches that run at once.", 1)] = 1,
    hardware: HardwareOption = None,
    log: TurnLogOption = None,
    seeking: SeekOptions = NO_SEEK,
) -> None:
    """Connect a bot to a server and play until Ctrl-C.

    With --seek it challenges others itself, two unrated games at a time, by its owner's token: that
    of `meijin login`, or in MEIJIN_OPERATOR_TOKEN.
    """
    wishes = seeking.wishes()
    loaded, server = load_bot(bot, options or ()), profile.endpoint
    start_turn_log(log, name or loaded.name)
    about = {"token": token, "name": name, "threads": threads, "hardware": hardware}
    if wishes is None:
        play(loaded, server, **about)
        return
    with seeker(server, owners_token(profile), wishes) as entered:
        play(loaded, server, **about, on_entered=entered)


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="What the bot is called.")],
    path: Annotated[Path | None, "The file to write; NAME.py in this folder else."] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--dir", help="Make this folder instead, which `meijin bot upload` takes as it is."
        ),
    ] = None,
) -> None:
    """Write a working bot to start from."""
    if folder is not None:
        if path is not None:
            raise CommandError("--path is a file, and --dir a folder; give one")
        write_project(name, folder)
        console.print(f"made {folder}; have it examined: meijin bot doctor {folder / 'bot.py'}")
        return
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
def list_(
    connection: Connection,
    connected: Annotated[bool, typer.Option(help="Only bots that are there now.")] = False,
    with_all: Annotated[
        bool, typer.Option("--all", help="Hidden ones too: an owner's own, or an operator's all.")
    ] = False,
) -> Output:
    """List the bots of a server."""
    ask = connection.ask_with_token if with_all else connection.ask
    found = read_list(ask, connection.bots.ListBots, pb.ListBotsRequest(connected=connected))
    return Output(found, list_lines(found, bot_table(found.bots, datetime.now(UTC))))


@app.command()
def show(connection: Connection, name: BotArgument) -> Output:
    """Show a bot: its versions, and its results by colour, opponent, ending and opening."""
    request = pb.GetBotRequest(name=name, with_results=True)
    response = connection.ask(connection.bots.GetBot, request)
    lines: list[RenderableType] = [
        *bot_lines(response.bot, datetime.now(UTC)),
        lineage_table(response.bot, response.versions),
    ]
    if response.results.games:
        lines += [results_note(response.results), *result_tables(response.results)]
    return Output(response, lines)


@app.command()
def versions(connection: Connection, name: BotArgument, limit: LimitOption = USUAL_LIMIT) -> Output:
    """List the versions of a bot, newest first: each has a rating of its own."""
    request = pb.ListBotVersionsRequest(name=name)
    ask, method = connection.ask, connection.bots.ListBotVersions
    return list_output(ask, method, request, f"Versions of {name}", VERSIONS, limit)


@app.command()
def register(
    connection: Connection,
    name: Annotated[str, typer.Argument(help="1 to 40 letters, digits, -, _ or .")],
    owner: Annotated[str, "Who it belongs to."] = "",
    display_name: Annotated[str, "What people call it, in any script; at most 60 characters."] = "",
    rotate: Annotated[bool, "A new token for a known bot; the old one stops."] = False,
    save: SaveOption = None,
) -> Output:
    """Register a bot and print its token, which is shown this once."""
    with ExitStack() as stack:
        file = save and stack.enter_context(private_file(save, is_new=not rotate))
        if rotate:
            renewed = token_pb.RotateTokenRequest(bot=name)
            secret = connection.ask_with_token(connection.tokens.RotateToken, renewed).secret
        else:
            made = pb.RegisterBotRequest(name=name, owner=owner, display_name=display_name)
            secret = connection.ask_with_token(connection.bots.RegisterBot, made).token
        if file:
            print(printable(secret), file=file)
    if save:
        said = f"the token of {name} is in {save}; it plays with {TOKEN_VARIABLE}=$(cat {save})"
        return Output({"name": name, "file": str(save)}, [said])
    note = f"Keep it: it is not shown again. {name} plays with {TOKEN_VARIABLE} set to it."
    return Output({"name": name, "token": secret}, [lambda: print_secret(secret, note)])


@app.command("set")
def set_(
    connection: Connection,
    name: BotArgument,
    state: Annotated[
        WantedState | None, "Whether it may play; operators alone ban, and lift a ban."
    ] = None,
    reason: Annotated[str, "Why it may not play, in a sentence; it is told to the bot."] = "",
    hidden: Annotated[
        bool | None,
        typer.Option("--hidden/--shown", help="Out of lists and ladder tables, or in them."),
    ] = None,
    unpause: Annotated[bool, "Have it play again that was paused for its forfeits."] = False,
    challenges: Annotated[
        Accepted | None, "Whose it accepts: nobody's, those of bots' owners, of people too."
    ] = None,
    new_name: Annotated[
        str | None,
        typer.Option("--name", help="Another name: 1 to 40 letters, digits, -, _ or . Operators."),
    ] = None,
) -> Output:
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
    bot = response.bot
    why = f": {bot.reason}" if bot.reason else ""
    hiding = ", and hidden" if bot.hidden else ""
    said = [f"{bot.name} is {word_of(pb.BotState, bot.state)}{why}{hiding}"]
    if challenges is not None:
        whose = ACCEPTED[word_of(pb.ChallengePolicy, bot.challenges)]
        said.append(f"{bot.name} accepts the challenges of {whose}")
    return Output(response, said)

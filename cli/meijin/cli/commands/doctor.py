"""`meijin bot doctor`: a pre-flight of a bot."""

import sys
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from meijin.cli.bot_options import BotSettingsOption, OwnTokenOption, is_behind_dashes
from meijin.cli.connection import Server, connect, with_server
from meijin.cli.doctor.admission import report_to
from meijin.cli.doctor.arena import open_arena
from meijin.cli.doctor.candidate import Candidate
from meijin.cli.doctor.check import Check, has_passed
from meijin.cli.doctor.examination import Examination, Scope
from meijin.cli.doctor.report import COLORS, as_json, as_junit, lines_of, summary
from meijin.cli.errors import UsageError, unusable_file
from meijin.cli.output import console, print_json, replaced

MEIJIN = "meijin"
LOOPBACK = "127.0.0.1:0"


@with_server
def doctor(
    server: Server,
    context: typer.Context,
    bot: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="BOT | -- PROGRAM [ARGS]",
            help="What `bot run` takes; or, behind --, any program that connects a bot: it finds "
            "the address in MEIJIN_SERVER and its token in MEIJIN_TOKEN.",
        ),
    ] = None,
    options: BotSettingsOption = None,
    listen: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT", help="Start no bot: wait for one that connects there instead."
        ),
    ] = None,
    name: Annotated[
        str, typer.Option(help="What the bot is called, there and in a report.")
    ] = "bot",
    start: Annotated[
        float, typer.Option(min=1, max=3600, help="Seconds that the bot may take to connect.")
    ] = 180,
    limit: Annotated[
        float, typer.Option(min=10, max=86_400, help="Seconds that everything may take.")
    ] = 600,
    quick: Annotated[
        bool, typer.Option("--quick", help="One board under each rule, one start, one clock.")
    ] = False,
    junit: Annotated[
        Path | None, typer.Option(help="A file to write the report to, in JUnit's XML.")
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Tell a server, with the bot's own token.")
    ] = False,
    token: OwnTokenOption = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of lines.")
    ] = False,
) -> None:
    """Examine a bot before it goes to an arena, by games on a server of the doctor's own.

    meijin bot doctor my_bot.py examines a bot of the SDK, meijin bot doctor -- node bot.js any
    other, and meijin bot doctor -- meijin bot wrap -- ./pbrain-mine an engine.

    The status is 0 when nothing has failed, 1 when something has, 2 when nothing was examined.
    """
    command = _command(bot or [], options or [], listen, is_program=is_behind_dashes(context))
    candidate = Candidate(command)
    scope = Scope(
        start_limit=timedelta(seconds=start), limit=timedelta(seconds=limit), is_quick=quick
    )
    with open_arena(candidate, name=name, listen=listen or LOOPBACK) as arena:
        if not command:
            typer.echo(f"waiting {start:g} s for the bot, which is to be told:", err=True)
            typer.echo(f"MEIJIN_SERVER={arena.address} MEIJIN_TOKEN={arena.token}", err=True)
        checks = Examination(arena, scope, _silent if json else _print).run()
        versions = arena.versions()
    if json:
        print_json(as_json(name, checks))
    else:
        console.print(summary(name, checks))
    if junit is not None:
        _write(junit, as_junit(name, checks))
    if report and versions:
        with connect(server, token or "") as connection:
            report_to(connection, versions[-1], name="" if token else name, checks=checks)
    if not has_passed(checks):
        raise typer.Exit(1)


def _command(
    words: list[str], options: list[str], listen: str | None, *, is_program: bool
) -> list[str]:
    """The program to start; empty where the bot's author starts it.

    Raises:
        UsageError: it is not clear what to examine.
    """
    if listen is not None:
        if words or options:
            raise UsageError("--listen waits for a bot that you start; leave the other one out")
        return []
    if not words:
        raise UsageError(
            "no bot to examine; name one, give a program behind --, or an address with --listen"
        )
    if is_program:
        if options:
            raise UsageError("--option is for a BOT; give a program's options behind its name")
        meijin = [sys.executable, "-m", MEIJIN]
        return [*meijin, *words[1:]] if words[0] == MEIJIN else words
    if len(words) > 1:
        raise UsageError("several words are a program, to be given behind --; or name one BOT")
    told = [f"--option={option}" for option in options]
    return [sys.executable, "-m", MEIJIN, "bot", "run", words[0], *told]


def _print(check: Check) -> None:
    first, *others = lines_of(check)
    mark, _, rest = first.partition(" ")
    console.print(f"{mark}", style=COLORS[check.status], end="")
    console.print(f" {rest}", *others, sep="\n", soft_wrap=True)


def _silent(_check: Check) -> None:
    """Tell nothing on the way."""


def _write(path: Path, text: bytes) -> None:
    try:
        with replaced(path) as file:
            file.write(text)
    except OSError as error:
        raise unusable_file(error) from None

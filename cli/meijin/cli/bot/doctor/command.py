"""`meijin bot doctor`: a pre-flight of a bot."""

import sys
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from meijin.cli.bot.doctor.report import SHOWN, as_json, as_junit, lines_of, summary
from meijin.cli.bot.doctor.wrapped import wrapped_engine
from meijin.cli.bot.options import BotSettingsOption, OwnTokenOption, is_behind_dashes
from meijin.cli.command import option
from meijin.cli.errors import UsageError
from meijin.cli.files import new_file
from meijin.cli.options import parsed
from meijin.cli.output import console, print_json
from meijin.local.connection import Server, connect
from meijin.local.doctor.arena import open_arena
from meijin.local.doctor.check import Check, has_passed
from meijin.local.doctor.examination import Examination, digest_of
from meijin.local.doctor.process_candidate import ProcessCandidate
from meijin.local.sides import Side
from meijin.v1 import bot_service_pb2 as pb
from meijin.v1 import play_service_pb2

MEIJIN = "meijin"
LOOPBACK = "127.0.0.1:0"


def doctor(
    server: Server,
    context: typer.Context,
    bot: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="BOT | ENGINE | -- PROGRAM [ARGS]",
            help="A bot or an engine as `meijin play` takes it; or, behind --, any program that "
            "connects a bot: it finds the address in MEIJIN_SERVER and its token in MEIJIN_TOKEN.",
        ),
    ] = None,
    options: BotSettingsOption = None,
    listen: Annotated[
        str | None,
        option("Start no bot: wait for one that connects there instead.", metavar="HOST:PORT"),
    ] = None,
    name: Annotated[str, "What the bot is called, there and in a report."] = "bot",
    start: Annotated[float, option("Seconds that the bot may take to connect.", 1, 3600)] = 180,
    limit: Annotated[float, option("Seconds that everything may take.", 10, 86_400)] = 600,
    quick: Annotated[bool, "One board under each rule, one start, one clock."] = False,
    junit: Annotated[Path | None, "A file to write the report to, in JUnit's XML."] = None,
    report: Annotated[bool, "Tell a server, with the bot's own token."] = False,
    token: OwnTokenOption = None,
    json: Annotated[bool, "Print one JSON object instead of lines."] = False,
) -> None:
    """Examine a bot before it goes to an arena, by games on a server of the doctor's own.

    meijin bot doctor my_bot.py examines a bot of the SDK, meijin bot doctor ./pbrain-mine an
    engine, meijin bot doctor -- meijin bot wrap --rules renju -- ./pbrain-mine one with options of
    the wrapper's, and meijin bot doctor -- node bot.js any other program.

    The status is 0 when nothing has failed, 1 when something has, 2 when nothing was examined.
    """
    command = _command(bot or [], options or [], listen, is_program=is_behind_dashes(context))
    start_limit, whole_limit = timedelta(seconds=start), timedelta(seconds=limit)
    candidate, engine = ProcessCandidate(command), wrapped_engine(command)
    if engine is not None:
        candidate.show_dialogue()
    with open_arena(candidate, name=name, listen=listen or LOOPBACK) as arena:
        if not command:
            typer.echo(f"waiting {start:g} s for the bot, which is to be told:", err=True)
            typer.echo(f"MEIJIN_SERVER={arena.link.address} MEIJIN_TOKEN={arena.token}", err=True)
        told = (lambda _: None) if json else _print
        checks = Examination(arena, start_limit, whole_limit, quick, told, engine).run()
        versions = arena.versions()
    if json:
        print_json(as_json(name, checks))
    else:
        console.print(summary(name, checks))
    if junit is not None:
        with new_file(junit, force=True) as file:
            file.write(as_junit(name, checks))
    if report and versions:
        known = "" if token else name  # which the token says
        with connect(server, token or "") as connection:
            request = _report(versions[-1], known, has_passed(checks))
            connection.ask_with_token(connection.bots.ReportDoctor, request)
    if not has_passed(checks):
        raise typer.Exit(1)


def _command(
    words: list[str], options: list[str], listen: str | None, *, is_program: bool
) -> list[str]:
    """The program to start; empty where the bot's author starts it."""
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
    return [sys.executable, "-m", MEIJIN, *parsed(Side.parse, words[0]).running(*told)]


def _report(version: pb.BotVersion, name: str, passed: bool) -> pb.ReportDoctorRequest:  # noqa: FBT001 - a field
    """What a server is told of a version, as that will say hello there."""
    engine = play_service_pb2.Engine(
        version=version.version, digest=digest_of(version), configuration=version.configuration
    )
    return pb.ReportDoctorRequest(name=name, engine=engine, passed=passed)


def _print(check: Check) -> None:
    first, *others = lines_of(check)
    mark, _, rest = first.partition(" ")
    console.print(mark, style=SHOWN[check.status][1], end="")
    console.print(f" {rest}", *others, sep="\n", soft_wrap=True)

"""The `meijin` command: its parts put together, and its errors in one line."""

import io
import signal
import sys
from typing import Annotated

import typer

from meijin.cli.lazy_group import MARKUP, LazyCommand, LazyGroup
from meijin.local.errors import ArenaError

COMMANDS = tuple(
    LazyCommand(name, f"meijin.cli.{module}", text)
    for name, module, text in (
        ("serve", "server.commands", "Run the match server until Ctrl-C or SIGTERM."),
        (
            "worker",
            "server.commands",
            "Run a worker that computes ladders, until Ctrl-C or SIGTERM.",
        ),
        (
            "web",
            "server.web",
            "Serve a server's pages for browsers as a process apart, until Ctrl-C or SIGTERM.",
        ),
        (
            "certificate",
            "server.certificates",
            "Make a certificate for trials, by an authority of one's own.",
        ),
        (
            "status",
            "server.status",
            "Show how a server is doing; the exit status is 0 if that is fine, and 1 if not.",
        ),
        (
            "healthcheck",
            "server.healthcheck",
            "Ask whether a server serves: the exit status is 0 if so, and 1 if not; it needs no token.",
        ),
        (
            "backup",
            "server.database",
            "Back up the database of a server, which may run meanwhile, and check the copy.",
        ),
        (
            "restore",
            "server.database",
            "Put a backup in the place of a server's database; stop the server and its workers first.",
        ),
        (
            "verify",
            "server.database",
            "Prove that no acknowledged move is missing, beside a running server or without one.",
        ),
        (
            "host",
            "hosts",
            "Run the programs of bots on this machine, and see what can be limited here.",
        ),
        ("bot", "bot.commands", "Run, write, register, list and manage bots."),
        (
            "play",
            "match.play",
            "Play bots and engines against each other here.",
        ),
        (
            "tune",
            "match.tune",
            "Tune numbers that a bot or an engine is given, on all cores.",
        ),
        ("match", "match.commands", "Play a match between two bots and print the score."),
        (
            "challenge",
            "match.challenges",
            "Challenge a bot to unrated games, list challenges and take them back. `meijin challenge NAME` is short for `meijin challenge make NAME`.",
        ),
        (
            "analyse",
            "bot.analyse",
            "Search positions with a bot, and write what it finds as JSON lines, in their order.",
        ),
        ("tournament", "tournament.commands", "Make, follow, show, export and stop tournaments."),
        (
            "ladder",
            "ladder.commands",
            "Show a ladder, compare bots, set anchors, and prove a run. `meijin ladder NAME` is short for `meijin ladder show NAME`.",
        ),
        ("game", "game.commands", "Look at games, export, convert, verify, replay and void them."),
        (
            "openings",
            "game.openings",
            "Explore what was played, read books of openings, and judge them.",
        ),
        (
            "faults",
            "game.faults",
            "Show the fault ledger: forfeits, void games and incidents, newest first.",
        ),
        ("token", "access.tokens", "List, create, rotate and revoke tokens."),
        (
            "login",
            "access.login",
            "Keep which server the commands talk to, and the token that they show.",
        ),
        ("logout", "access.login", "Forget what `meijin login` has kept."),
        ("admin", "access.admin", "Invite owners, list them, read the log."),
        (
            "class",
            "classes.commands",
            "Give each student of a class a bot, a deadline, grades and a report.",
        ),
        ("webhook", "webhooks", "Have an address be told by HTTP what happens."),
        ("demo", "demo.command", "Play a double round robin of three bots and compute the ladder."),
        ("learn", "learn", "See how game trees are searched."),
    )
)


EPILOG = (
    "Every command that talks to a server also takes --server HOST:PORT (grpcs://HOST:PORT with "
    "TLS), --token, --ca, --client-certificate and --client-key with files, and --plaintext, to "
    "send a token to another machine without TLS. Each has a variable, such as MEIJIN_SERVER, and "
    "`meijin login` keeps them. Without any, the server of this machine is asked, with the token "
    "in its data folder, meijin-data unless --data names it."
)


class MeijinGroup(LazyGroup):
    """All commands."""

    lazy_commands = COMMANDS


app = typer.Typer(
    name="meijin",
    cls=MeijinGroup,
    help="The arena for Gomoku bots: a match server, tournaments and a ladder.",
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode=MARKUP,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer's callback
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415 - takes as long as all the rest

        typer.echo(f"meijin {version('meijin')}")
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_show_version, is_eager=True, help="Show the version."
        ),
    ] = False,
) -> None:
    """The arena for Gomoku bots: a match server, tournaments and a ladder."""


def main() -> None:
    """Run the command line; an expected failure is one line on standard error and a status."""
    _write_utf8()
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    try:
        app()
    except ArenaError as error:
        _fail(str(error), status=error.status)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        from meijin.cli.errors import explain  # noqa: PLC0415 - imports much, for failures alone

        explained = explain(error)
        if explained is None:
            raise
        _fail(explained)
    finally:
        # The interpreter's own end prints an exception that a handler raises in it.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _write_utf8() -> None:
    """Have pipes and files hold UTF-8, whatever the system's old encoding is: tables need it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _fail(message: str, *, status: int = ArenaError.status) -> None:
    from meijin.cli.output import PlainConsole  # noqa: PLC0415 - as above

    PlainConsole(stderr=True).print(f"meijin: {message}", soft_wrap=True)
    sys.exit(status)

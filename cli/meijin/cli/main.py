"""The `meijin` command: its parts put together, and its errors in one line."""

import io
import signal
import sys
from typing import Annotated

import typer

from meijin.arena.errors import ArenaError
from meijin.cli.lazy_group import MARKUP, LazyCommand, LazyGroup

COMMANDS = (
    LazyCommand(
        "serve",
        "meijin.cli.commands.servers:serve",
        "Run the match server until Ctrl-C or SIGTERM.",
    ),
    LazyCommand(
        "worker",
        "meijin.cli.commands.servers:worker",
        "Run a worker that computes ladders, until Ctrl-C or SIGTERM.",
    ),
    LazyCommand(
        "web",
        "meijin.cli.commands.web:web",
        "Serve a server's pages for browsers as a process apart, until Ctrl-C or SIGTERM.",
    ),
    LazyCommand(
        "certificate",
        "meijin.cli.commands.certificates:certificate",
        "Make a certificate for trials, by an authority of one's own.",
    ),
    LazyCommand(
        "status",
        "meijin.cli.commands.status:status",
        "Show how a server is doing; the exit status is 0 if that is fine, and 1 if not.",
    ),
    LazyCommand(
        "backup",
        "meijin.cli.commands.backups:backup",
        "Back up the database of a server, which may run meanwhile, and check the copy.",
    ),
    LazyCommand(
        "restore",
        "meijin.cli.commands.backups:restore",
        "Put a backup in the place of a server's database; stop the server and its workers first.",
    ),
    LazyCommand(
        "verify",
        "meijin.cli.commands.verify:verify",
        "Prove that no acknowledged move is missing, beside a running server or without one.",
    ),
    LazyCommand(
        "bot", "meijin.cli.commands.bots:app", "Run, write, register, list and manage bots."
    ),
    LazyCommand(
        "match",
        "meijin.cli.commands.matches:match",
        "Play a match between two bots and print the score.",
    ),
    LazyCommand(
        "challenge",
        "meijin.cli.commands.challenges:app",
        "Challenge a bot to unrated games, list challenges and take them back. `meijin challenge NAME` is short for `meijin challenge make NAME`.",
    ),
    LazyCommand(
        "analyse",
        "meijin.cli.commands.analyse:analyse",
        "Search positions with a bot, and write what it finds as JSON lines, in their order.",
    ),
    LazyCommand(
        "tournament",
        "meijin.cli.commands.tournaments:app",
        "Make, follow, show, export and stop tournaments.",
    ),
    LazyCommand(
        "ladder",
        "meijin.cli.commands.ladders:app",
        "Show a ladder, compare bots, set anchors, and prove a run. `meijin ladder NAME` is short for `meijin ladder show NAME`.",
    ),
    LazyCommand(
        "game",
        "meijin.cli.commands.games:app",
        "Look at games, export, convert, verify, replay and void them.",
    ),
    LazyCommand(
        "openings",
        "meijin.cli.commands.openings:app",
        "Explore what was played, read books of openings, and judge them.",
    ),
    LazyCommand(
        "faults",
        "meijin.cli.commands.faults:faults",
        "Show the fault ledger: forfeits, void games and incidents, newest first.",
    ),
    LazyCommand(
        "token", "meijin.cli.commands.tokens:app", "List, create, rotate and revoke tokens."
    ),
    LazyCommand(
        "login",
        "meijin.cli.commands.login:login",
        "Keep which server the commands talk to, and the token that they show.",
    ),
    LazyCommand(
        "logout", "meijin.cli.commands.login:logout", "Forget what `meijin login` has kept."
    ),
    LazyCommand(
        "admin",
        "meijin.cli.commands.admin:app",
        "Invite owners, list them, read the log.",
    ),
    LazyCommand(
        "class",
        "meijin.cli.commands.classes:app",
        "Give each student of a class a bot, a deadline, grades and a report.",
    ),
    LazyCommand(
        "webhook",
        "meijin.cli.commands.webhooks:app",
        "Have an address be told by HTTP what happens.",
    ),
    LazyCommand(
        "demo",
        "meijin.cli.commands.demo:demo",
        "Play a double round robin of three bots and compute the ladder.",
    ),
    LazyCommand("learn", "meijin.cli.commands.learn:app", "See how game trees are searched."),
)


EPILOG = (
    "Every command that talks to a server also takes --server HOST:PORT (grpcs://HOST:PORT with "
    "TLS), --token, --ca, --client-certificate and --client-key with files, and --plaintext, to "
    "send a token to another machine without TLS. Each has a variable, such as MEIJIN_SERVER, and "
    "`meijin login` keeps them. Without any, the server of this machine is asked, with the token "
    "in its data folder."
)


class Commands(LazyGroup):
    """All of them."""

    lazy_commands = COMMANDS


app = typer.Typer(
    name="meijin",
    cls=Commands,
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
        from meijin.cli.explanations import explain  # noqa: PLC0415 - imports much, for failures alone

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

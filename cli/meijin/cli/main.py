"""The `meijin` command: its parts put together, and its errors in one line."""

import signal
import sys
from importlib.metadata import version
from typing import Annotated

import grpc
import typer

from meijin.bots import BotLoadError
from meijin.cli.commands import (
    admin,
    backups,
    bots,
    certificates,
    demo,
    faults,
    games,
    ladders,
    learn,
    matches,
    openings,
    owners,
    servers,
    status,
    tokens,
    tournaments,
)
from meijin.cli.connection import RPC_TIMEOUT
from meijin.cli.errors import CommandError
from meijin.cli.output import PlainConsole
from meijin.wire.contract import SERVER_VARIABLE, TOKEN_VARIABLE

app = typer.Typer(
    name="meijin",
    help="The arena for Gomoku bots: a match server, tournaments and a ladder.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
app.command("serve")(servers.serve)
app.command("worker")(servers.worker)
app.command("certificate")(certificates.certificate)
app.command("status")(status.status)
app.command("backup")(backups.backup)
app.command("restore")(backups.restore)
app.add_typer(bots.app, name="bot")
app.command("match")(matches.match)
app.add_typer(tournaments.app, name="tournament")
app.add_typer(ladders.app, name="ladder")
app.add_typer(games.app, name="game")
app.add_typer(openings.app, name="openings")
app.command("faults")(faults.faults)
app.add_typer(tokens.app, name="token")
app.add_typer(owners.app, name="owner")
app.add_typer(admin.app, name="admin")
app.command("demo")(demo.demo)
app.add_typer(learn.app, name="learn")

EXPLANATIONS = {
    grpc.StatusCode.UNAVAILABLE: "no server answers; start one with `meijin serve`, "
    f"or say where it is with --server or {SERVER_VARIABLE}",
    grpc.StatusCode.DEADLINE_EXCEEDED: f"no answer in {RPC_TIMEOUT.total_seconds():g} s: the "
    "server is too busy, or something else listens there; check the address and the port",
    grpc.StatusCode.UNIMPLEMENTED: "what answers is no Meijin server, or one of another release; "
    "check the address and the port",
}
"""What to say where gRPC's own words would not help."""


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer's callback
    if wanted:
        typer.echo(f"meijin {version('meijin')}")
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """The arena for Gomoku bots: a match server, tournaments and a ladder."""


def main() -> None:
    """Run the command line; an expected failure is one line on standard error and a status."""
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    try:
        app()
    except CommandError as error:
        _fail(str(error), status=error.status)
    except BotLoadError as error:
        _fail(str(error))
    except grpc.RpcError as error:
        _fail(_explain(error))
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        # The interpreter's own end prints an exception that a handler raises in it.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _explain(error: grpc.RpcError) -> str:
    if not isinstance(error, grpc.Call):
        return str(error)
    if error.code() is grpc.StatusCode.UNAUTHENTICATED:
        return f"{error.details()}: give a token with --token or {TOKEN_VARIABLE}"
    return EXPLANATIONS.get(error.code(), str(error.details()))


def _fail(message: str, *, status: int = CommandError.status) -> None:
    PlainConsole(stderr=True).print(f"meijin: {message}", soft_wrap=True)
    sys.exit(status)

"""The server that a command talks to."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Annotated, TypeVar

import grpc
import typer

from meijin.cli.errors import CommandError
from meijin.v1.bot_service_pb2_grpc import BotServiceStub
from meijin.v1.game_service_pb2_grpc import GameServiceStub
from meijin.v1.ladder_service_pb2_grpc import LadderServiceStub
from meijin.v1.status_service_pb2_grpc import StatusServiceStub
from meijin.v1.tournament_service_pb2_grpc import TournamentServiceStub
from meijin.wire.contract import (
    DATA_VARIABLE,
    DEFAULT_DATA,
    OPERATOR_TOKEN_FILE,
    SERVER_VARIABLE,
    TOKEN_VARIABLE,
    client_keepalive_options,
    parse_address,
)

LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
Q = TypeVar("Q")
A = TypeVar("A")

RPC_TIMEOUT = timedelta(seconds=30)
"""A server has this time to answer."""

ServerOption = Annotated[
    str,
    typer.Option("--server", "-s", envvar=SERVER_VARIABLE, help="The server's host and port."),
]
TokenOption = Annotated[
    str | None,
    typer.Option(
        "--token",
        envvar=TOKEN_VARIABLE,
        help="The operator's token; else read from the file operator.token in the data folder.",
        show_envvar=True,
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object instead of a table.")
]


class Connection:
    """The services of one server, and the ways to call them."""

    def __init__(self, channel: grpc.Channel, token: Callable[[], str | None]) -> None:
        self.bots = BotServiceStub(channel)
        self.tournaments = TournamentServiceStub(channel)
        self.games = GameServiceStub(channel)
        self.status = StatusServiceStub(channel)
        self.ladders = LadderServiceStub(channel)
        self._token = token

    def ask(self, method: "grpc.UnaryUnaryMultiCallable[Q, A]", request: Q) -> A:
        """Call a method that anyone may call."""
        return method(request, timeout=RPC_TIMEOUT.total_seconds())

    def ask_as_operator(self, method: "grpc.UnaryUnaryMultiCallable[Q, A]", request: Q) -> A:
        """Call a method with the operator's token, if there is one: open servers need none."""
        token = self._token()
        metadata = (("authorization", f"Bearer {token}"),) if token else ()
        return method(request, timeout=RPC_TIMEOUT.total_seconds(), metadata=metadata)


@contextmanager
def connect(server: str, token: str | None = None) -> Iterator[Connection]:
    """Talk to a server; commands for operators use `token` or the one kept on this machine.

    Raises:
        CommandError: `server` is no address.
    """
    try:
        address = parse_address(server)
    except ValueError as error:
        raise CommandError(str(error)) from None
    is_kept = token is None and address.rpartition(":")[0] in LOOPBACK
    with grpc.insecure_channel(address, options=client_keepalive_options()) as channel:
        yield Connection(channel, _kept_token if is_kept else lambda: token)


def _kept_token() -> str | None:
    """The token that a server on this machine has left in its data folder.

    Raises:
        CommandError: it can't be read.
    """
    path = Path(os.environ.get(DATA_VARIABLE, DEFAULT_DATA)) / OPERATOR_TOKEN_FILE
    try:
        return path.read_text().strip() or None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CommandError(f"can't read {path}: {error.strerror}; give --token") from None

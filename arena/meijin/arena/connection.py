"""A connection to a server: the ways to call its services, and the token that is shown."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import grpc

from meijin.arena.errors import ArenaError
from meijin.v1.admin_service_pb2_grpc import AdminServiceStub
from meijin.v1.bot_service_pb2_grpc import BotServiceStub
from meijin.v1.class_service_pb2_grpc import ClassServiceStub
from meijin.v1.fault_service_pb2_grpc import FaultServiceStub
from meijin.v1.game_service_pb2_grpc import GameServiceStub
from meijin.v1.ladder_service_pb2_grpc import LadderServiceStub
from meijin.v1.owner_service_pb2_grpc import OwnerServiceStub
from meijin.v1.status_service_pb2_grpc import StatusServiceStub
from meijin.v1.token_service_pb2_grpc import TokenServiceStub
from meijin.v1.tournament_service_pb2_grpc import TournamentServiceStub
from meijin.wire.channel import Security, handshake_failure, open_channel
from meijin.wire.contract import (
    DATA_VARIABLE,
    DEFAULT_DATA,
    DEFAULT_SERVER,
    OPERATOR_TOKEN_FILE,
    TOKEN_VARIABLE,
    Address,
    client_keepalive_options,
    parse_address,
)

Q = TypeVar("Q")
A = TypeVar("A")

RPC_TIMEOUT = timedelta(seconds=30)
"""A server has this time to answer."""

CREATION_TIMEOUT = timedelta(minutes=30)
"""A server has this time to store a tournament: one of a million games takes minutes."""

PAGE = 1000
"""Rows of a list that are asked for at once, the most that a server gives."""


@dataclass(frozen=True, slots=True)
class Server:
    """Which server is talked to, and how."""

    address: str
    """As it was written."""
    security: Security = field(default_factory=Security)


USUAL_SERVER = Server(DEFAULT_SERVER)
"""The one that is talked to when nothing is said."""


class Connection:
    """The services of one server, and the ways to call them."""

    def __init__(self, channel: grpc.Channel, token: Callable[[], str | None]) -> None:
        self.bots = BotServiceStub(channel)
        self.tournaments = TournamentServiceStub(channel)
        self.games = GameServiceStub(channel)
        self.faults = FaultServiceStub(channel)
        self.status = StatusServiceStub(channel)
        self.ladders = LadderServiceStub(channel)
        self.tokens = TokenServiceStub(channel)
        self.owners = OwnerServiceStub(channel)
        self.admin = AdminServiceStub(channel)
        self.classes = ClassServiceStub(channel)
        self.reading_metadata: tuple[tuple[str, str], ...] = ()
        """What calls that read carry: a token once the server has asked for one."""
        self._token = token

    def ask(self, method: "grpc.UnaryUnaryMultiCallable[Q, A]", request: Q) -> A:
        """Call a method that reads: without a token, unless the server wants one."""
        timeout = RPC_TIMEOUT.total_seconds()
        try:
            return method(request, timeout=timeout, metadata=self.reading_metadata)
        except grpc.RpcError as error:
            if self.reading_metadata or not _wants_token(error) or not self._metadata():
                raise
        self.reading_metadata = self._metadata()
        return method(request, timeout=timeout, metadata=self.reading_metadata)

    def watch(self, method: "grpc.UnaryStreamMultiCallable[Q, A]", request: Q) -> Iterator[A]:
        """What a method streams that reads: without a token, unless the server wants one."""
        try:
            yield from method(request, metadata=self.reading_metadata)
        except grpc.RpcError as error:
            if self.reading_metadata or not _wants_token(error) or not self._metadata():
                raise
            self.reading_metadata = self._metadata()
            yield from method(request, metadata=self.reading_metadata)

    def ask_with_token(
        self,
        method: "grpc.UnaryUnaryMultiCallable[Q, A]",
        request: Q,
        timeout: timedelta | None = None,
    ) -> A:
        """Call a method with a token, if there is one: open servers need none.

        Args:
            method: One of a stub's.
            request: What it is asked.
            timeout: How long it may take; `RPC_TIMEOUT` when left out.
        """
        seconds = (timeout or RPC_TIMEOUT).total_seconds()
        return method(request, timeout=seconds, metadata=self._metadata())

    def _metadata(self) -> tuple[tuple[str, str], ...]:
        token = self._token()
        return (("authorization", f"Bearer {token}"),) if token else ()


def pages(
    ask: Callable[[Any, Any], Any], method: "grpc.UnaryUnaryMultiCallable[Q, A]", request: Q
) -> Iterator[A]:
    """The pages of a list, one after another, each asked for by `ask` of a `Connection`."""
    asked: Any = request
    while True:
        page = ask(method, asked)
        yield page
        if not page.next_page_token:
            return
        asked.page_token = page.next_page_token


def _wants_token(error: grpc.RpcError) -> bool:
    return isinstance(error, grpc.Call) and error.code() is grpc.StatusCode.UNAUTHENTICATED


@contextmanager
def connect(server: Server, token: str | None = None) -> Iterator[Connection]:
    """Talk to a server; calls for operators use `token` or the one kept on this machine.

    Raises:
        ArenaError: the server has no address, a file for TLS is none, the token would be sent
            to another machine in plain text, or the TLS handshake fails.
    """
    try:
        address = parse_address(server.address)
        server.security.check_token(address, token)
        opened = open_channel(address, server.security, client_keepalive_options())
    except ValueError as error:
        raise ArenaError(str(error)) from None
    with opened as channel:
        try:
            yield Connection(channel, partial(_usual_token, server, address, token))
        except grpc.RpcError as error:
            _check_handshake(address, error)
            raise


def _usual_token(server: Server, address: Address, token: str | None) -> str | None:
    """The token that is given; else that of the environment, or the one kept on this machine.

    Raises:
        ArenaError: it would be sent to another machine in plain text.
    """
    if token is None:
        token = os.environ.get(TOKEN_VARIABLE)
    if token is None and address.is_local:
        return _kept_token()
    try:
        server.security.check_token(address, token)
    except ValueError as error:
        raise ArenaError(str(error)) from None
    return token


def _check_handshake(address: Address, error: grpc.RpcError) -> None:
    """See that a call has failed otherwise than in the handshake of its connection.

    Raises:
        ArenaError: the handshake has failed; the message says what to do.
    """
    if isinstance(error, grpc.Call):
        failure = handshake_failure(address, error.details() or "")
        if failure is not None:
            raise ArenaError(failure) from None


def _kept_token() -> str | None:
    """The token that a server on this machine has left in its data folder.

    Raises:
        ArenaError: it can't be read.
    """
    path = Path(os.environ.get(DATA_VARIABLE, DEFAULT_DATA)) / OPERATOR_TOKEN_FILE
    try:
        return path.read_text().strip() or None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ArenaError(f"can't read {path}: {error.strerror}; give --token") from None

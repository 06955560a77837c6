"""A connection to a server: the ways to call its services, and the token that is shown."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import grpc

from meijin.arena.errors import ArenaError
from meijin.v1.admin_service_pb2_grpc import AdminServiceStub
from meijin.v1.analysis_service_pb2_grpc import AnalysisServiceStub
from meijin.v1.bot_service_pb2_grpc import BotServiceStub
from meijin.v1.challenge_service_pb2_grpc import ChallengeServiceStub
from meijin.v1.class_service_pb2_grpc import ClassServiceStub
from meijin.v1.fault_service_pb2_grpc import FaultServiceStub
from meijin.v1.game_service_pb2_grpc import GameServiceStub
from meijin.v1.ladder_service_pb2_grpc import LadderServiceStub
from meijin.v1.opening_service_pb2_grpc import OpeningServiceStub
from meijin.v1.owner_service_pb2_grpc import OwnerServiceStub
from meijin.v1.status_service_pb2_grpc import StatusServiceStub
from meijin.v1.token_service_pb2_grpc import TokenServiceStub
from meijin.v1.tournament_service_pb2_grpc import TournamentServiceStub
from meijin.v1.webhook_service_pb2_grpc import WebhookServiceStub
from meijin.wire.channel import Security, handshake_failure, open_channel
from meijin.wire.contract import (
    DATA_VARIABLE,
    DEFAULT_DATA,
    DEFAULT_SERVER,
    OPERATOR_TOKEN_FILE,
    OPERATOR_TOKEN_VARIABLE,
    SERVER_VARIABLE,
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


NO_ANSWERS = {
    grpc.StatusCode.UNAVAILABLE: "no server answers at {address}; start one with `meijin serve`, "
    f"or say where it is with --server or {SERVER_VARIABLE}",
    grpc.StatusCode.DEADLINE_EXCEEDED: "no answer in time from {address}: the server is too busy, "
    "or something else listens there; check the address and the port",
    grpc.StatusCode.UNIMPLEMENTED: "what answers at {address} is no Meijin server, or one of "
    "another release; check the address and the port",
}
"""What to say where gRPC's own words would not help."""


@dataclass(frozen=True, slots=True)
class Server:
    """Which server is talked to, and how."""

    address: str
    """As it was written."""
    security: Security = field(default_factory=Security)


USUAL_SERVER = Server(DEFAULT_SERVER)
"""The one that is talked to when nothing is said."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens that calls to one server may carry."""

    server: Server
    address: Address
    given: str | None
    """Takes the place of all others; an empty one too."""

    @property
    def are_kept(self) -> bool:
        """Whether that for operators is the one that a server on this machine has left."""
        is_elsewhere = self.given is not None or OPERATOR_TOKEN_VARIABLE in os.environ
        return self.address.is_local and not is_elsewhere

    def for_operators(self) -> str | None:
        """The token that is given; else that of the environment, or the one that is kept.

        Raises:
            ArenaError: it would be sent to another machine in plain text.
        """
        if self.are_kept:
            return _kept_token()
        return self._checked(self.given, OPERATOR_TOKEN_VARIABLE)

    def for_readers(self) -> str | None:
        """That of a bot where there is none for operators: it may read too.

        Raises:
            ArenaError: it would be sent to another machine in plain text.
        """
        return self.for_operators() or self._checked(self.given, TOKEN_VARIABLE)

    def _checked(self, given: str | None, variable: str) -> str | None:
        token = os.environ.get(variable) if given is None else given
        try:
            self.server.security.check_token(self.address, token)
        except ValueError as error:
            raise ArenaError(str(error)) from None
        return token


class Connection:
    """The services of one server, and the ways to call them."""

    def __init__(self, channel: grpc.Channel, tokens: Tokens) -> None:
        self.server = tokens.server
        self.bots = BotServiceStub(channel)
        self.tournaments = TournamentServiceStub(channel)
        self.games = GameServiceStub(channel)
        self.faults = FaultServiceStub(channel)
        self.status = StatusServiceStub(channel)
        self.ladders = LadderServiceStub(channel)
        self.openings = OpeningServiceStub(channel)
        self.tokens = TokenServiceStub(channel)
        self.owners = OwnerServiceStub(channel)
        self.admin = AdminServiceStub(channel)
        self.analysis = AnalysisServiceStub(channel)
        self.challenges = ChallengeServiceStub(channel)
        self.classes = ClassServiceStub(channel)
        self.webhooks = WebhookServiceStub(channel)
        self.reading_metadata: tuple[tuple[str, str], ...] = ()
        """What calls that read carry: a token once the server has asked for one."""
        self._tokens = tokens

    def ask(self, method: "grpc.UnaryUnaryMultiCallable[Q, A]", request: Q) -> A:
        """Call a method that reads: without a token, unless the server wants one."""
        timeout = RPC_TIMEOUT.total_seconds()
        try:
            return method(request, timeout=timeout, metadata=self.reading_metadata)
        except grpc.RpcError as error:
            if not self._learns_to_read(error):
                raise
        return method(request, timeout=timeout, metadata=self.reading_metadata)

    def watch(self, method: "grpc.UnaryStreamMultiCallable[Q, A]", request: Q) -> Iterator[A]:
        """What a method streams that reads: without a token, unless the server wants one."""
        try:
            yield from method(request, metadata=self.reading_metadata)
        except grpc.RpcError as error:
            if not self._learns_to_read(error):
                raise
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
        token = self._tokens.for_operators()
        try:
            return method(request, timeout=seconds, metadata=_metadata(token))
        except grpc.RpcError as error:
            if not (token and _wants_token(error) and self._tokens.are_kept):
                raise
        return self._ask_without_kept(method, request, seconds)

    def _ask_without_kept(
        self, method: "grpc.UnaryUnaryMultiCallable[Q, A]", request: Q, seconds: float
    ) -> A:
        """Call a server that does not know the kept token: an open one needs none.

        Raises:
            ArenaError: this one does.
        """
        try:
            return method(request, timeout=seconds, metadata=())
        except grpc.RpcError as error:
            if not _wants_token(error):
                raise
        raise ArenaError(
            f"the token in {_kept_file()} is another server's; give this one's with --token "
            f"or {OPERATOR_TOKEN_VARIABLE}"
        )

    def _learns_to_read(self, error: grpc.RpcError) -> bool:
        """Whether reading has failed for want of a token, and there is one to try."""
        if self.reading_metadata or not _wants_token(error):
            return False
        self.reading_metadata = _metadata(self._tokens.for_readers())
        return bool(self.reading_metadata)


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
            yield Connection(channel, Tokens(server, address, token))
        except grpc.RpcError as error:
            _check_handshake(address, error)
            _check_server(address, error)
            raise


def _check_handshake(address: Address, error: grpc.RpcError) -> None:
    """See that a call has failed otherwise than in the handshake of its connection.

    Raises:
        ArenaError: the handshake has failed; the message says what to do.
    """
    if isinstance(error, grpc.Call):
        failure = handshake_failure(address, error.details() or "")
        if failure is not None:
            raise ArenaError(failure) from None


def _check_server(address: Address, error: grpc.RpcError) -> None:
    """See that a Meijin server has answered a call that has failed.

    Raises:
        ArenaError: none has; the message names the address.
    """
    if isinstance(error, grpc.Call) and error.code() in NO_ANSWERS:
        raise ArenaError(NO_ANSWERS[error.code()].format(address=address)) from None


def _metadata(token: str | None) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {token}"),) if token else ()


def _kept_file() -> Path:
    return Path(os.environ.get(DATA_VARIABLE, DEFAULT_DATA)) / OPERATOR_TOKEN_FILE


def _kept_token() -> str | None:
    """The token that a server on this machine has left in its data folder.

    Raises:
        ArenaError: it can't be read.
    """
    path = _kept_file()
    try:
        return path.read_text(encoding="utf-8").strip() or None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ArenaError(f"can't read {path}: {error.strerror}; give --token") from None

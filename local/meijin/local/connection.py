"""A connection to a server: the ways to call its services, and the token that is shown."""

import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import grpc

from meijin.local.errors import ArenaError
from meijin.v1 import bot_service_pb2
from meijin.v1 import tournament_service_pb2 as pb
from meijin.v1.admin_service_pb2_grpc import AdminServiceStub
from meijin.v1.analysis_service_pb2_grpc import AnalysisServiceStub
from meijin.v1.bot_service_pb2_grpc import BotServiceStub
from meijin.v1.challenge_service_pb2_grpc import ChallengeServiceStub
from meijin.v1.class_service_pb2_grpc import ClassServiceStub
from meijin.v1.fault_service_pb2_grpc import FaultServiceStub
from meijin.v1.game_service_pb2_grpc import GameServiceStub
from meijin.v1.hosting_service_pb2_grpc import HostingServiceStub
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
    OPERATOR_TOKEN_FILE,
    OPERATOR_TOKEN_VARIABLE,
    SERVER_VARIABLE,
    TOKEN_VARIABLE,
    WRONG_KIND,
    Address,
    client_keepalive_options,
    parse_address,
)
from meijin.wire.methods import list_field

Q = TypeVar("Q")
A = TypeVar("A")

RPC_TIMEOUT = timedelta(seconds=30)
"""A server has this time to answer."""

CREATION_TIMEOUT = timedelta(minutes=30)
"""A server has this time to store a tournament: one of a million games takes minutes."""

PAGE = 1000
"""Rows of a list that are asked for at once, the most that a server gives."""

HEALTH_CHECK = "/grpc.health.v1.Health/Check"
SERVING = b"\x08\x01"
"""The answer ``HealthCheckResponse(status=SERVING)``, of a package that the bare install lacks."""

WAITING_IN_GRPC = ("SingleThreadedUnaryStream", 1)
"""Who watches waits in gRPC itself; in Python two threads would wake fifteen times a second."""

Metadata: TypeAlias = tuple[tuple[str, str], ...]

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
    data: Path | None = None
    """Its data folder, for the operator's token; else that of the environment."""


class Connection:
    """The services of one server, and the ways to call them.

    Args:
        channel: An open one.
        server: Where it leads to.
        address: The server's, parsed.
        token: Takes the place of all others; an empty one too.
    """

    def __init__(
        self, channel: grpc.Channel, server: Server, address: Address, token: str | None
    ) -> None:
        self.server = server
        self.bots = BotServiceStub(channel)
        self.tournaments = TournamentServiceStub(channel)
        self.games = GameServiceStub(channel)
        self.faults = FaultServiceStub(channel)
        self.status = StatusServiceStub(channel)
        self.check_health: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(
            HEALTH_CHECK
        )
        self.ladders = LadderServiceStub(channel)
        self.openings = OpeningServiceStub(channel)
        self.tokens = TokenServiceStub(channel)
        self.owners = OwnerServiceStub(channel)
        self.admin = AdminServiceStub(channel)
        self.analysis = AnalysisServiceStub(channel)
        self.challenges = ChallengeServiceStub(channel)
        self.classes = ClassServiceStub(channel)
        self.hosting = HostingServiceStub(channel)
        self.webhooks = WebhookServiceStub(channel)
        self._address = address
        self._given = token
        self._is_kept = (
            (address.is_local or server.data is not None)
            and token is None
            and OPERATOR_TOKEN_VARIABLE not in os.environ
        )
        """Whether operators' calls show the token that a server on this machine has left."""
        self._reading: Metadata = ()
        """What calls that read carry: a token once the server has asked for one."""

    def ask(self, method: "grpc.UnaryUnaryMultiCallable[Q, A]", request: Q) -> A:
        """Call a method that reads: without a token, unless the server wants one."""
        timeout = RPC_TIMEOUT.total_seconds()
        try:
            return method(request, timeout=timeout, metadata=self._reading)
        except grpc.RpcError as error:
            if not self._learns_to_read(error):
                raise
        return method(request, timeout=timeout, metadata=self._reading)

    def watch(self, method: "grpc.UnaryStreamMultiCallable[Q, A]", request: Q) -> Iterator[A]:
        """What a method streams that reads: without a token, unless the server wants one."""
        try:
            yield from method(request, metadata=self._reading)
        except grpc.RpcError as error:
            if not self._learns_to_read(error):
                raise
            yield from method(request, metadata=self._reading)

    def ask_with_token(
        self,
        method: "grpc.UnaryUnaryMultiCallable[Q, A]",
        request: Q,
        timeout: timedelta | None = None,
    ) -> A:
        """Call a method with a token, if there is one: open servers need none.

        Where there is no operator's, a bot's own is tried: it does for the bot's programs.

        Raises:
            ArenaError: the token would be sent to another machine in plain text, or the one that
                is kept can't be read.
        """
        seconds = (timeout or RPC_TIMEOUT).total_seconds()
        metadata = _metadata(self._operators_token())
        try:
            return method(request, timeout=seconds, metadata=metadata)
        except grpc.RpcError as error:
            other = self._another(metadata, error)
            if other is None:
                raise
        return method(request, timeout=seconds, metadata=other)

    def watch_with_token(
        self, method: Callable[..., Iterator[A]], requests: Callable[[], Any]
    ) -> Iterator[A]:
        """What a method streams, called with a token as `ask_with_token` does.

        Args:
            requests: Gives the request, or a new iterator of several.
        """
        metadata = _metadata(self._operators_token())
        try:
            yield from method(requests(), metadata=metadata)
        except grpc.RpcError as error:
            other = self._another(metadata, error)
            if other is None:
                raise
            yield from method(requests(), metadata=other)

    def _another(self, metadata: Metadata, error: grpc.RpcError) -> Metadata | None:
        """What a call is tried with for the second time; ``None`` where that can't help."""
        if not _wants_token(error):
            return None
        if metadata:
            return () if self._is_kept else None  # an open server needs none
        return _metadata(self._given_or(TOKEN_VARIABLE)) or None

    def explanation(self, error: grpc.RpcError) -> str:
        """What to say of a failed call where gRPC's own words don't help; else nothing."""
        if not isinstance(error, grpc.Call):
            return ""
        if _wants_token(error):
            return self._token_advice(error.details() or "")
        if (error.details() or "").startswith(WRONG_KIND):
            return f"{error.details()}; give one with --token or {OPERATOR_TOKEN_VARIABLE}"
        said = NO_ANSWERS.get(error.code(), "").format(address=self._address)
        return handshake_failure(self._address, error.details() or "") or said

    def _token_advice(self, details: str) -> str:
        advice = f"give a token with --token or {OPERATOR_TOKEN_VARIABLE}"
        if self._is_kept:
            file = _kept_file(self.server)
            if file.exists():
                details = f"the token in {file} is not this server's"
            else:
                details += f", and there is no {file}"
            advice += ", or this server's folder with --data"
        if os.environ.get(TOKEN_VARIABLE):
            advice += f"; {TOKEN_VARIABLE} is for bots alone"
        return f"{details}: {advice}"

    def _learns_to_read(self, error: grpc.RpcError) -> bool:
        """Whether reading has failed for want of a token, and there is one to try."""
        if self._reading or not _wants_token(error):
            return False
        token = self._operators_token() or self._given_or(TOKEN_VARIABLE)  # a bot's may read too
        self._reading = _metadata(token)
        return bool(token)

    def _operators_token(self) -> str | None:
        """The one that is given; else that of the environment, or the one that is kept."""
        if self._is_kept:
            return self._checked(_kept_token(_kept_file(self.server)))
        return self._given_or(OPERATOR_TOKEN_VARIABLE)

    def _given_or(self, variable: str) -> str | None:
        return self._checked(os.environ.get(variable) if self._given is None else self._given)

    def _checked(self, token: str | None) -> str | None:
        try:
            self.server.security.check_token(self._address, token)
        except ValueError as error:
            raise ArenaError(str(error)) from None
        return token


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


def read_list(
    ask: Callable[[Any, Any], Any],
    method: "grpc.UnaryUnaryMultiCallable[Q, A]",
    request: Q,
    limit: int = 0,
) -> A:
    """The first rows of a list as one response, whose token says whether there are more.

    Args:
        ask: Of a `Connection`.
        method: What lists; the rows are the first repeated field of its responses.
        request: What is asked for; its page's size and token are set here.
        limit: How many; 0 for all.
    """
    asked: Any = request
    asked.page_size = min(limit or PAGE, PAGE)
    found = pages(ask, method, request)
    whole: Any = next(found)
    while whole.next_page_token and (not limit or len(rows_of(whole)) < limit):
        if limit:
            asked.page_size = min(limit - len(rows_of(whole)), PAGE)
        page: Any = next(found)
        rows_of(whole).extend(rows_of(page))
        whole.next_page_token = page.next_page_token
    return whole  # type: ignore[no-any-return]  # a response of the method


def rows_of(response: Any) -> Any:  # noqa: ANN401 - a list of any noun
    return getattr(response, list_field(response).name)


def list_bots(
    connection: Connection, *, connected: bool = False, hidden: bool = False
) -> Sequence[bot_service_pb2.Bot]:
    """A server's bots; operators and owners alone see hidden ones."""
    ask = connection.ask_with_token if hidden else connection.ask
    request = bot_service_pb2.ListBotsRequest(connected=connected)
    return read_list(ask, connection.bots.ListBots, request).bots


def make_tournament(
    connection: Connection, wanted: pb.TournamentSettings, request_id: str = ""
) -> pb.Tournament:
    """Make a tournament; with the same request id there is no second one."""
    key = request_id or secrets.token_hex(8)
    request = pb.CreateTournamentRequest(settings=wanted, request_id=key)
    create = connection.tournaments.CreateTournament
    return connection.ask_with_token(create, request, CREATION_TIMEOUT).tournament


def get_tournament(
    connection: Connection, key: str, *, with_match_report: bool = False
) -> pb.GetTournamentResponse:
    request = pb.GetTournamentRequest(tournament_id=key, with_match_report=with_match_report)
    return connection.ask(connection.tournaments.GetTournament, request)


def set_state(
    connection: Connection, key: str, state: pb.TournamentState.ValueType
) -> pb.Tournament:
    """Cancel a tournament, or take it up again."""
    request = pb.UpdateTournamentRequest(tournament_id=key, state=state)
    return connection.ask_with_token(connection.tournaments.UpdateTournament, request).tournament


def _wants_token(error: grpc.RpcError) -> bool:
    return isinstance(error, grpc.Call) and error.code() is grpc.StatusCode.UNAUTHENTICATED


@contextmanager
def connect(server: Server, token: str | None = None) -> Iterator[Connection]:
    """Talk to a server; calls for operators use `token` or the one kept on this machine.

    Raises:
        ArenaError: the server has no address, a file for TLS is none, the token would be sent
            to another machine in plain text, the TLS handshake fails, or a token is wanted.
    """
    try:
        address = parse_address(server.address)
        server.security.check_token(address, token)
        options = (*client_keepalive_options(), WAITING_IN_GRPC)
        opened = open_channel(address, server.security, options)
    except ValueError as error:
        raise ArenaError(str(error)) from None
    with opened as channel:
        connection = Connection(channel, server, address, token)
        try:
            yield connection
        except grpc.RpcError as error:
            if said := connection.explanation(error):
                raise ArenaError(said) from None
            raise


def _metadata(token: str | None) -> Metadata:
    return (("authorization", f"Bearer {token}"),) if token else ()


def _kept_file(server: Server) -> Path:
    """Where a server on this machine leaves the operator's token."""
    return (server.data or Path(os.environ.get(DATA_VARIABLE, DEFAULT_DATA))) / OPERATOR_TOKEN_FILE


def _kept_token(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip() or None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ArenaError(f"can't read {path}: {error.strerror}; give --token") from None

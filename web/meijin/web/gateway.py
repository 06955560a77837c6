"""The gateway: the server's services as a visitor of the pages may call them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from types import SimpleNamespace
from typing import Any, Protocol, TypeVar, cast

import grpc

from meijin.v1.admin_service_pb2_grpc import AdminServiceStub
from meijin.v1.analysis_service_pb2_grpc import AnalysisServiceStub
from meijin.v1.bot_service_pb2_grpc import BotServiceStub
from meijin.v1.challenge_service_pb2_grpc import ChallengeServiceStub
from meijin.v1.fault_service_pb2_grpc import FaultServiceStub
from meijin.v1.game_service_pb2_grpc import GameServiceStub
from meijin.v1.ladder_service_pb2_grpc import LadderServiceStub
from meijin.v1.opening_service_pb2_grpc import OpeningServiceStub
from meijin.v1.owner_service_pb2_grpc import OwnerServiceStub
from meijin.v1.play_service_pb2_grpc import PlayServiceStub
from meijin.v1.status_service_pb2_grpc import StatusServiceStub
from meijin.v1.token_service_pb2_grpc import TokenServiceStub
from meijin.v1.tournament_service_pb2_grpc import TournamentServiceStub
from meijin.v1.webhook_service_pb2_grpc import WebhookServiceStub

Stub = TypeVar("Stub")

KINDS = ("unary_unary", "unary_stream", "stream_unary", "stream_stream")
"""Of methods, as a channel calls them."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks for a page, as far as the services care."""

    host: str
    """The address of its machine, without a port."""
    token: str = ""
    """What it has signed in with; empty for nobody in particular."""


class Gateway(Protocol):
    """Where the services are: in this process, or behind a connection."""

    def channel(self, visitor: Visitor) -> grpc.aio.Channel:
        """A channel on which calls are the visitor's: its token, and its limits where possible.

        Calls on it fail with `grpc.aio.AioRpcError`. It costs nothing and need not be closed.
        """


class RemoteGateway:
    """The services at the other end of a connection, which all visitors share.

    The server sees the process of the pages as one peer: its limits by address hold for all
    visitors together.
    """

    def __init__(self, connection: grpc.aio.Channel) -> None:
        self._connection = connection

    def channel(self, visitor: Visitor) -> grpc.aio.Channel:
        if not visitor.token:
            return self._connection
        metadata = (("authorization", f"Bearer {visitor.token}"),)

        def signed_in(kind: str) -> Callable[..., Any]:
            make: Callable[..., Callable[..., Any]] = getattr(self._connection, kind)
            return lambda *names, **codecs: partial(make(*names, **codecs), metadata=metadata)

        methods = {kind: signed_in(kind) for kind in KINDS}
        return cast("grpc.aio.Channel", SimpleNamespace(**methods))


def _service(stub: Callable[[grpc.aio.Channel], Stub]) -> cached_property[Stub]:
    def made(services: "Services") -> Stub:
        return stub(services.channel)

    return cached_property(made)


class Services:
    """The services of the contract on a channel."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self.channel = channel

    admin = _service(AdminServiceStub)
    analysis = _service(AnalysisServiceStub)
    bots = _service(BotServiceStub)
    challenges = _service(ChallengeServiceStub)
    faults = _service(FaultServiceStub)
    games = _service(GameServiceStub)
    ladders = _service(LadderServiceStub)
    openings = _service(OpeningServiceStub)
    owners = _service(OwnerServiceStub)
    play = _service(PlayServiceStub)
    status = _service(StatusServiceStub)
    tokens = _service(TokenServiceStub)
    tournaments = _service(TournamentServiceStub)
    webhooks = _service(WebhookServiceStub)

"""The gateway: the server's services as a visitor of the pages may call them, and its names."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property, partial
from types import SimpleNamespace
from typing import Any, Protocol, TypeVar, cast

import grpc

from meijin.v1 import bot_service_pb2
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
from meijin.v1.play_service_pb2_grpc import PlayServiceStub
from meijin.v1.status_service_pb2_grpc import StatusServiceStub
from meijin.v1.token_service_pb2_grpc import TokenServiceStub
from meijin.v1.tournament_service_pb2_grpc import TournamentServiceStub
from meijin.v1.webhook_service_pb2_grpc import WebhookServiceStub

Stub = TypeVar("Stub")

NAMES_AGE = timedelta(seconds=3)
"""How old display names may be."""

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
    classes = _service(ClassServiceStub)
    faults = _service(FaultServiceStub)
    games = _service(GameServiceStub)
    hosting = _service(HostingServiceStub)
    ladders = _service(LadderServiceStub)
    openings = _service(OpeningServiceStub)
    owners = _service(OwnerServiceStub)
    play = _service(PlayServiceStub)
    status = _service(StatusServiceStub)
    tokens = _service(TokenServiceStub)
    tournaments = _service(TournamentServiceStub)
    webhooks = _service(WebhookServiceStub)


class DisplayNames:
    """What people call bots and people, as the server told it a moment ago."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.version = ""
        """Another one once any name has changed."""
        self._clock = clock
        self._names: Mapping[str, str] = {}
        self._looked = -NAMES_AGE.total_seconds()

    def shown(self, name: str) -> str:
        """What people call a bot; its name where they call it by that.

        Those who share a display name are told apart by their names.
        """
        return self._names.get(name, name)

    async def look(self, services: Services) -> None:
        """Ask for them anew if they are old; they stay where the visitor is told nothing."""
        before, now = self._looked, self._clock()
        if now - before < NAMES_AGE.total_seconds():
            return
        self._looked = now  # others go on with the names that are known
        try:
            await self._read(services)
        except grpc.aio.AioRpcError:
            self._looked = before

    def expire(self) -> None:
        """Have the next one who looks ask anew: a visitor of ours has changed them."""
        self._looked = -NAMES_AGE.total_seconds()

    async def _read(self, services: Services) -> None:
        asked = bot_service_pb2.ListDisplayNamesRequest(version=self.version)
        page = await services.bots.ListDisplayNames(asked)
        if (version := page.version) == self.version:
            return
        names = dict(page.display_names)
        while page.next_page_token:
            asked = bot_service_pb2.ListDisplayNamesRequest(page_token=page.next_page_token)
            page = await services.bots.ListDisplayNames(asked)
            names |= page.display_names
        uses = Counter(map(str.casefold, names.values()))
        self._names = {
            name: shown if uses[shown.casefold()] == 1 else f"{shown} ({name})"
            for name, shown in names.items()
        }
        self.version = version

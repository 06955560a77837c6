"""The gateway: the server's services as a visitor of the pages may call them."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

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

if TYPE_CHECKING:
    from meijin.v1.admin_service_pb2_grpc import AdminServiceAsyncStub
    from meijin.v1.analysis_service_pb2_grpc import AnalysisServiceAsyncStub
    from meijin.v1.bot_service_pb2_grpc import BotServiceAsyncStub
    from meijin.v1.challenge_service_pb2_grpc import ChallengeServiceAsyncStub
    from meijin.v1.fault_service_pb2_grpc import FaultServiceAsyncStub
    from meijin.v1.game_service_pb2_grpc import GameServiceAsyncStub
    from meijin.v1.ladder_service_pb2_grpc import LadderServiceAsyncStub
    from meijin.v1.opening_service_pb2_grpc import OpeningServiceAsyncStub
    from meijin.v1.owner_service_pb2_grpc import OwnerServiceAsyncStub
    from meijin.v1.play_service_pb2_grpc import PlayServiceAsyncStub
    from meijin.v1.status_service_pb2_grpc import StatusServiceAsyncStub
    from meijin.v1.token_service_pb2_grpc import TokenServiceAsyncStub
    from meijin.v1.tournament_service_pb2_grpc import TournamentServiceAsyncStub
    from meijin.v1.webhook_service_pb2_grpc import WebhookServiceAsyncStub


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


class Services:
    """The services of the contract on a channel."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self.channel = channel

    @cached_property
    def admin(self) -> "AdminServiceAsyncStub":
        """What operators do to bots, and the audit log."""
        return AdminServiceStub(self.channel)

    @cached_property
    def analysis(self) -> "AnalysisServiceAsyncStub":
        """Positions evaluated by bots."""
        return AnalysisServiceStub(self.channel)

    @cached_property
    def bots(self) -> "BotServiceAsyncStub":
        """Bots."""
        return BotServiceStub(self.channel)

    @cached_property
    def challenges(self) -> "ChallengeServiceAsyncStub":
        """Challenges, and the people who come to play."""
        """Challenges, and people."""
        return ChallengeServiceStub(self.channel)

    @cached_property
    def faults(self) -> "FaultServiceAsyncStub":
        """The fault ledger."""
        return FaultServiceStub(self.channel)

    @cached_property
    def games(self) -> "GameServiceAsyncStub":
        """Games."""
        return GameServiceStub(self.channel)

    @cached_property
    def ladders(self) -> "LadderServiceAsyncStub":
        """Ladders."""
        return LadderServiceStub(self.channel)

    @cached_property
    def openings(self) -> "OpeningServiceAsyncStub":
        """Games by their openings."""
        return OpeningServiceStub(self.channel)

    @cached_property
    def owners(self) -> "OwnerServiceAsyncStub":
        """Owners and their invitations."""
        return OwnerServiceStub(self.channel)

    @cached_property
    def play(self) -> "PlayServiceAsyncStub":
        """The stream of whoever plays."""
        return PlayServiceStub(self.channel)

    @cached_property
    def status(self) -> "StatusServiceAsyncStub":
        """How the server is doing."""
        return StatusServiceStub(self.channel)

    @cached_property
    def tokens(self) -> "TokenServiceAsyncStub":
        """Tokens."""
        return TokenServiceStub(self.channel)

    @cached_property
    def tournaments(self) -> "TournamentServiceAsyncStub":
        """Tournaments."""
        return TournamentServiceStub(self.channel)

    @cached_property
    def webhooks(self) -> "WebhookServiceAsyncStub":
        """Webhooks, and what was delivered to them."""
        return WebhookServiceStub(self.channel)

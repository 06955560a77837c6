"""Permissions: the scopes that may call each method of the server."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from meijin.server.errors import NotAllowedError, UnauthenticatedError
from meijin.server.settings import Reading, Registration, Settings
from meijin.store.access.tokens import Identity
from meijin.store.schema import TokenKind
from meijin.wire.contract import OPERATOR_TOKEN_VARIABLE


class Permission(enum.Enum):
    """A permission: who may call a method.

    Where registration is open everybody may, but for a player's stream with a token that is
    none of a player's; and a person's token is for no more than anywhere else.
    """

    ANYONE = enum.auto()
    READER = enum.auto()
    """Anyone, or whoever has a token where reading needs one."""
    BOT = enum.auto()
    PLAYER = enum.auto()
    """A bot, or a person."""
    EVALUATIONS = enum.auto()
    """A bot, about itself, an owner, about its bots, a person, or an operator."""
    OWNER = enum.auto()
    """An owner, about what is its own, or an operator."""
    CHALLENGES = enum.auto()
    """An owner, with its bots, a person, or an operator."""
    TOURNAMENTS = enum.auto()
    """An operator, or an owner too where owners make tournaments."""
    OPERATOR = enum.auto()


PERMISSIONS: Final[Mapping[str, Permission]] = {
    "/meijin.v1.PlayService/Play": Permission.PLAYER,
    "/meijin.v1.BotService/RegisterBot": Permission.OWNER,
    "/meijin.v1.BotService/ReportDoctor": Permission.BOT,
    "/meijin.v1.BotService/UpdateBot": Permission.OWNER,
    "/meijin.v1.BotService/GetBot": Permission.READER,
    "/meijin.v1.BotService/ListBots": Permission.READER,
    "/meijin.v1.BotService/ListBotVersions": Permission.READER,
    "/meijin.v1.TournamentService/CreateTournament": Permission.TOURNAMENTS,
    "/meijin.v1.TournamentService/UpdateTournament": Permission.OPERATOR,
    "/meijin.v1.TournamentService/GetTournament": Permission.READER,
    "/meijin.v1.TournamentService/ListTestPoints": Permission.READER,
    "/meijin.v1.TournamentService/ListTournaments": Permission.READER,
    "/meijin.v1.TournamentService/WatchTournament": Permission.READER,
    "/meijin.v1.GameService/GetGame": Permission.READER,
    "/meijin.v1.GameService/ListGames": Permission.READER,
    "/meijin.v1.GameService/WatchGame": Permission.READER,
    "/meijin.v1.GameService/WatchArena": Permission.READER,
    "/meijin.v1.GameService/ExportGame": Permission.READER,
    "/meijin.v1.GameService/VoidGame": Permission.OPERATOR,
    "/meijin.v1.LadderService/ListLadders": Permission.READER,
    "/meijin.v1.LadderService/GetStandings": Permission.READER,
    "/meijin.v1.LadderService/ListRatingRuns": Permission.READER,
    "/meijin.v1.LadderService/GetMatrix": Permission.READER,
    "/meijin.v1.LadderService/ListPairCounts": Permission.READER,
    "/meijin.v1.LadderService/ListCovariances": Permission.READER,
    "/meijin.v1.LadderService/GetDiagnosis": Permission.READER,
    "/meijin.v1.LadderService/SetAnchors": Permission.OPERATOR,
    "/meijin.v1.LadderService/ListRatings": Permission.READER,
    "/meijin.v1.LadderService/GetHeadToHead": Permission.READER,
    "/meijin.v1.OpeningService/Explore": Permission.READER,
    "/meijin.v1.AnalysisService/Evaluate": Permission.EVALUATIONS,
    "/meijin.v1.ChallengeService/EnterAsPerson": Permission.ANYONE,
    "/meijin.v1.ChallengeService/CreateChallenge": Permission.CHALLENGES,
    "/meijin.v1.ChallengeService/CancelChallenge": Permission.CHALLENGES,
    "/meijin.v1.ChallengeService/GetChallenge": Permission.READER,
    "/meijin.v1.ChallengeService/ListChallenges": Permission.READER,
    "/meijin.v1.FaultService/ListFaults": Permission.READER,
    "/meijin.v1.StatusService/GetStatus": Permission.OPERATOR,
    "/meijin.v1.StatusService/GetActivity": Permission.READER,
    "/meijin.v1.TokenService/GetOwnToken": Permission.READER,
    "/meijin.v1.TokenService/CreateToken": Permission.OWNER,
    "/meijin.v1.TokenService/ListTokens": Permission.OWNER,
    "/meijin.v1.TokenService/RotateToken": Permission.OWNER,
    "/meijin.v1.TokenService/RevokeToken": Permission.OWNER,
    "/meijin.v1.OwnerService/CreateInvitation": Permission.OPERATOR,
    "/meijin.v1.OwnerService/ListInvitations": Permission.OPERATOR,
    "/meijin.v1.OwnerService/RevokeInvitation": Permission.OPERATOR,
    "/meijin.v1.OwnerService/Join": Permission.ANYONE,
    "/meijin.v1.OwnerService/ListOwners": Permission.OPERATOR,
    "/meijin.v1.ClassService/CreateClass": Permission.OPERATOR,
    "/meijin.v1.ClassService/UpdateClass": Permission.OPERATOR,
    "/meijin.v1.ClassService/GetClass": Permission.OPERATOR,
    "/meijin.v1.ClassService/ListClasses": Permission.OPERATOR,
    "/meijin.v1.WebhookService/CreateWebhook": Permission.OWNER,
    "/meijin.v1.WebhookService/ListWebhooks": Permission.OWNER,
    "/meijin.v1.WebhookService/DeleteWebhook": Permission.OWNER,
    "/meijin.v1.WebhookService/EnableWebhook": Permission.OWNER,
    "/meijin.v1.WebhookService/RotateSecret": Permission.OWNER,
    "/meijin.v1.WebhookService/SendTest": Permission.OWNER,
    "/meijin.v1.WebhookService/ListDeliveries": Permission.OWNER,
    "/meijin.v1.WebhookService/Redeliver": Permission.OWNER,
    "/meijin.v1.AdminService/ListAudit": Permission.OPERATOR,
    "/grpc.health.v1.Health/Check": Permission.ANYONE,
    "/grpc.health.v1.Health/List": Permission.ANYONE,
    "/grpc.health.v1.Health/Watch": Permission.ANYONE,
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": Permission.ANYONE,
}
"""Every method of the server; one that is not here can't be called."""

CHANGES_BY_ANYONE = frozenset(
    {"/meijin.v1.OwnerService/Join", "/meijin.v1.ChallengeService/EnterAsPerson"}
)
"""The methods that change something though anyone may call them."""

STREAMS = frozenset({Permission.BOT, Permission.PLAYER})
"""Of players' streams, and of what is said about a player with its own token."""

OPERATORS = frozenset({TokenKind.OPERATOR})
OWNERS = OPERATORS | {TokenKind.OWNER}
PEOPLE = frozenset({TokenKind.PERSON})
BOTS = frozenset({TokenKind.BOT})

SCOPES: Final[Mapping[Permission, frozenset[TokenKind]]] = {
    Permission.BOT: BOTS,
    Permission.PLAYER: BOTS | PEOPLE,
    Permission.EVALUATIONS: OWNERS | BOTS | PEOPLE,
    Permission.OWNER: OWNERS,
    Permission.CHALLENGES: OWNERS | PEOPLE,
    Permission.OPERATOR: OPERATORS,
}
"""The kinds of tokens that permissions are given to, where that is the same on every server."""


def is_change(method: str) -> bool:
    """Whether a method is limited as those that change something are."""
    readers = (None, Permission.ANYONE, Permission.READER, Permission.EVALUATIONS)
    return method in CHANGES_BY_ANYONE or PERMISSIONS.get(method) not in readers


@dataclass(frozen=True, slots=True)
class Policy:
    """What a server's settings say of who may do what."""

    registration: Registration = Registration.CLOSED
    reading: Reading = Reading.ANYONE
    owner_quota: int = 10
    owner_tournaments: bool = False

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The policy of a server."""
        return cls(
            registration=settings.registration,
            reading=settings.reading,
            owner_quota=settings.owner_quota,
            owner_tournaments=settings.owner_tournaments,
        )

    def scopes(self, permission: Permission) -> frozenset[TokenKind]:
        """The kinds of tokens that a permission is given to."""
        if permission is Permission.TOURNAMENTS:
            return OWNERS if self.owner_tournaments else OPERATORS
        return SCOPES.get(permission, frozenset(TokenKind))

    def check(self, permission: Permission | None, identity: Identity | None) -> None:
        """Let a call be made.

        Raises:
            NotAllowedError: the token is of another kind, or there is no such method.
            UnauthenticatedError: a token is needed, and none was shown.
        """
        if permission is None:
            raise NotAllowedError("this method can't be called")
        if identity is None and self._needs_no_token(permission):
            return
        if identity is None:
            raise UnauthenticatedError("missing or unknown token")
        is_player = identity.kind is TokenKind.PERSON or permission in STREAMS
        if self.registration is Registration.OPEN and not is_player:
            return
        scopes = self.scopes(permission)
        if identity.kind not in scopes:
            kinds = " or ".join(sorted(kind.value for kind in scopes))
            message = f"this needs a token of kind {kinds}, not {identity.kind.value}"
            raise NotAllowedError(f"{message}; give one with --token or {OPERATOR_TOKEN_VARIABLE}")

    def _needs_no_token(self, permission: Permission) -> bool:
        if permission is Permission.READER:
            return self.reading is Reading.ANYONE
        return permission is Permission.ANYONE or self.registration is Registration.OPEN

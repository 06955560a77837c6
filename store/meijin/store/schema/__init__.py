"""The tables, as typed models.

- `ids`: what rows are known by, of a type each
- `base`: the models' common base, and how values are kept in columns
- `bots`: owners, bots and their versions
- `classes`: classes and the bots in them
- `challenges`: challenges, by their tournaments
- `access`: tokens, invitations and the audit log
- `ladders`: ladders, their anchors, rating runs and ratings
- `tournaments`: tournaments, entrants and pairings
- `games`: games, and the journal of those that are running
- `faults`: the fault ledger
- `openings`: what was played in each position of the first moves, counted
- `webhooks`: webhooks, how far each has been told, and their deliveries
- `claims`: who owns the database
"""

from meijin.store.schema.access import LABEL, AuditRow, Invitation, Token, TokenKind
from meijin.store.schema.base import Base, Instant
from meijin.store.schema.bots import (
    PERSON_PREFIX,
    REASON,
    Bot,
    BotState,
    BotVersion,
    ChallengePolicy,
    Owner,
)
from meijin.store.schema.challenges import Challenge, ChallengeColors
from meijin.store.schema.claims import ID_BYTES, Claim, first_claim
from meijin.store.schema.classes import STUDENT_ID, ClassMember, SchoolClass
from meijin.store.schema.faults import FAULT_DETAIL, Fault, FaultKind, FaultParty
from meijin.store.schema.games import GAME_IS_NOT_FINISHED, Game, GameState, JournalRow
from meijin.store.schema.ids import (
    ActId,
    BotId,
    BotVersionId,
    ClassId,
    DeliveryId,
    EntryId,
    Epoch,
    FaultId,
    FormatName,
    GameId,
    InvitationId,
    LadderId,
    OwnerId,
    PairingId,
    RatingRunId,
    TokenId,
    TournamentId,
    WebhookId,
)
from meijin.store.schema.ladders import (
    Anchor,
    DayTally,
    Ladder,
    Posterior,
    Rating,
    RatingDay,
    RatingRun,
)
from meijin.store.schema.openings import (
    GAME_ENDED,
    OpeningCursor,
    OpeningGame,
    OpeningMove,
    OpeningRecheck,
    StrengthBand,
)
from meijin.store.schema.tournaments import (
    TOURNAMENT_IS_NO_CHALLENGE,
    TOURNAMENT_IS_NOT_FINISHED,
    Entrant,
    Pairing,
    Tournament,
    TournamentState,
)
from meijin.store.schema.webhooks import (
    WEBHOOK_DETAIL,
    WEBHOOK_URL,
    DeliveryState,
    EventSource,
    Webhook,
    WebhookCursor,
    WebhookDelivery,
    WebhookEvent,
    WebhookFormat,
)

__all__ = [
    "FAULT_DETAIL",
    "GAME_ENDED",
    "GAME_IS_NOT_FINISHED",
    "ID_BYTES",
    "LABEL",
    "PERSON_PREFIX",
    "REASON",
    "STUDENT_ID",
    "TOURNAMENT_IS_NOT_FINISHED",
    "TOURNAMENT_IS_NO_CHALLENGE",
    "WEBHOOK_DETAIL",
    "WEBHOOK_URL",
    "ActId",
    "Anchor",
    "AuditRow",
    "Base",
    "Bot",
    "BotId",
    "BotState",
    "BotVersion",
    "BotVersionId",
    "Challenge",
    "ChallengeColors",
    "ChallengePolicy",
    "Claim",
    "ClassId",
    "ClassMember",
    "DayTally",
    "DeliveryId",
    "DeliveryState",
    "Entrant",
    "EntryId",
    "Epoch",
    "EventSource",
    "Fault",
    "FaultId",
    "FaultKind",
    "FaultParty",
    "FormatName",
    "Game",
    "GameId",
    "GameState",
    "Instant",
    "Invitation",
    "InvitationId",
    "JournalRow",
    "Ladder",
    "LadderId",
    "OpeningCursor",
    "OpeningGame",
    "OpeningMove",
    "OpeningRecheck",
    "Owner",
    "OwnerId",
    "Pairing",
    "PairingId",
    "Posterior",
    "Rating",
    "RatingDay",
    "RatingRun",
    "RatingRunId",
    "SchoolClass",
    "StrengthBand",
    "Token",
    "TokenId",
    "TokenKind",
    "Tournament",
    "TournamentId",
    "TournamentState",
    "Webhook",
    "WebhookCursor",
    "WebhookDelivery",
    "WebhookEvent",
    "WebhookFormat",
    "WebhookId",
    "first_claim",
]

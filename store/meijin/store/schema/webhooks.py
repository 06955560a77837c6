"""Webhooks, how far each has been told, and their deliveries."""

import enum
from datetime import datetime

from sqlalchemy import ForeignKey, Index, String

from meijin.store.schema.base import INT64, Field, Record, column
from meijin.store.schema.ids import (
    BotId,
    DeliveryId,
    LadderId,
    OwnerId,
    TournamentId,
    WebhookId,
)

WEBHOOK_URL = 2000
"""Characters of where a webhook sends."""

WEBHOOK_DETAIL = 200
"""Characters of how a delivery went, and of why a webhook is disabled."""


class WebhookEvent(enum.Enum):
    """What webhooks tell of, as the type of an event is written in the body."""

    GAME_ENDED = "game.ended"
    TOURNAMENT_ENDED = "tournament.ended"
    LADDER_PUBLISHED = "ladder.published"
    BOT_PAUSED = "bot.paused"
    FAULT_RECORDED = "fault.recorded"
    WEBHOOK_TEST = "webhook.test"


class WebhookFormat(enum.Enum):
    """What the bodies of a webhook are."""

    STANDARD = "standard"
    DISCORD = "discord"
    SLACK = "slack"


class DeliveryState(enum.Enum):
    """Where a delivery stands."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"


class EventSource(enum.Enum):
    """An ordered log of the store that events are read from."""

    GAMES = "games"
    """Ended games, by `end_sequence`."""
    TOURNAMENTS = "tournaments"
    """Ended tournaments, by `end_sequence`."""
    LADDERS = "ladders"
    """A ladder's published runs, by their ids."""
    FAULTS = "faults"
    """The fault ledger, by its ids."""


class Webhook(Record, table="webhook"):
    """An address that is told by HTTP what happens."""

    id: Field[WebhookId] = column(primary_key=True, default=0)
    url: Field[str] = column(String(WEBHOOK_URL))
    format: Field[WebhookFormat]
    events: Field[list[str]]
    """The values of those that it tells of."""
    secret: Field[str] = column(String(100), repr=False)
    """What it signs with, as it was shown: a hash of it would sign nothing."""
    create_time: Field[datetime]
    owner_id: Field[OwnerId | None] = column(ForeignKey("owner.id"), index=True, default=None)
    """Whose bots it tells of; ``None`` for one of the operators'."""
    bot_id: Field[BotId | None] = column(ForeignKey("bot.id"), default=None)
    """The one that it tells of; ``None`` for no such bound. So the two below."""
    tournament_id: Field[TournamentId | None] = column(ForeignKey("tournament.id"), default=None)
    ladder_id: Field[LadderId | None] = column(ForeignKey("ladder.id"), default=None)
    old_secret: Field[str] = column(String(100), repr=False, default="", server_default="")
    """What it signs with too, until `old_secret_end`; empty before the secret is replaced."""
    old_secret_end: Field[datetime | None] = column(default=None)
    failures: Field[int] = column(default=0, server_default="0")
    """Tries without success since the last that had it."""
    failing_since: Field[datetime | None] = column(default=None)
    """When the first of them was; ``None`` without any."""
    hold_time: Field[datetime | None] = column(default=None)
    """Nothing is sent before; ``None`` where nothing holds it."""
    disable_reason: Field[str] = column(String(WEBHOOK_DETAIL), default="", server_default="")
    """Why nothing is sent, one sentence; empty while it is enabled."""


class WebhookCursor(Record, table="webhook_cursor"):
    """How far a webhook has been told of a source's events."""

    webhook_id: Field[WebhookId] = column(ForeignKey("webhook.id"), primary_key=True)
    source: Field[EventSource] = column(primary_key=True)
    subject_id: Field[int] = column(INT64, primary_key=True, default=0)
    """The ladder, for its runs; 0 for the other sources."""
    position: Field[int] = column(INT64, default=0)
    """Of the last event that it was told of or need not be; see `EventSource`."""

    @property
    def key(self) -> tuple[WebhookId, EventSource, int]:
        return self.webhook_id, self.source, self.subject_id


class WebhookDelivery(Record, table="webhook_delivery"):
    """One event on its way to one webhook, or told to it.

    The body is made anew from the store at every try, so that a row is small.
    """

    id: Field[DeliveryId] = column(primary_key=True, default=0)
    webhook_id: Field[WebhookId] = column(ForeignKey("webhook.id"))
    message_id: Field[str] = column(String(40))
    """The header ``webhook-id``, the same at every try."""
    event: Field[WebhookEvent]
    subject_id: Field[int] = column(INT64)
    """The game, tournament, run, fault or webhook that it tells of."""
    event_time: Field[datetime]
    next_time: Field[datetime | None] = column(default=None)
    """When it is to be tried, at the soonest; ``None`` once it is over."""
    state: Field[DeliveryState] = column(default=DeliveryState.WAITING)
    attempts: Field[int] = column(default=0)
    """How often it was tried, since it was last sent again by hand."""
    last_time: Field[datetime | None] = column(default=None)
    """When it was last tried."""
    http_status: Field[int | None] = column(default=None)
    """Of the last answer; ``None`` where there was none."""
    detail: Field[str] = column(String(WEBHOOK_DETAIL), default="")
    """How the last try ended, one sentence."""


Index("webhook_delivery_of", WebhookDelivery.webhook_id, WebhookDelivery.id)
Index(
    "webhook_delivery_due",
    WebhookDelivery.state,
    WebhookDelivery.webhook_id,
    WebhookDelivery.next_time,
)

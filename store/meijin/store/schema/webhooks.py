"""Webhooks, how far each has been told, and their deliveries."""

import enum
from datetime import datetime

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from meijin.store.schema.base import INT64, Base
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


class Webhook(Base):
    """An address that is told by HTTP what happens."""

    __tablename__ = "webhook"

    id: Mapped[WebhookId] = mapped_column(primary_key=True, init=False)
    url: Mapped[str] = mapped_column(String(WEBHOOK_URL))
    format: Mapped[WebhookFormat]
    events: Mapped[list[str]]
    """The values of those that it tells of."""
    secret: Mapped[str] = mapped_column(String(100))
    """What it signs with, as it was shown: a hash of it would sign nothing."""
    create_time: Mapped[datetime]
    owner_id: Mapped[OwnerId | None] = mapped_column(
        ForeignKey("owner.id"), index=True, default=None
    )
    """Whose bots it tells of; ``None`` for one of the operators'."""
    bot_id: Mapped[BotId | None] = mapped_column(ForeignKey("bot.id"), default=None)
    """The one that it tells of; ``None`` for no such bound. So the two below."""
    tournament_id: Mapped[TournamentId | None] = mapped_column(
        ForeignKey("tournament.id"), default=None
    )
    ladder_id: Mapped[LadderId | None] = mapped_column(ForeignKey("ladder.id"), default=None)
    old_secret: Mapped[str] = mapped_column(String(100), default="", server_default="")
    """What it signs with too, until `old_secret_end`; empty before the secret is replaced."""
    old_secret_end: Mapped[datetime | None] = mapped_column(default=None)
    failures: Mapped[int] = mapped_column(default=0, server_default="0")
    """Tries without success since the last that had it."""
    failing_since: Mapped[datetime | None] = mapped_column(default=None)
    """When the first of them was; ``None`` without any."""
    hold_time: Mapped[datetime | None] = mapped_column(default=None)
    """Nothing is sent before; ``None`` where nothing holds it."""
    disable_reason: Mapped[str] = mapped_column(
        String(WEBHOOK_DETAIL), default="", server_default=""
    )
    """Why nothing is sent, one sentence; empty while it is enabled."""


class WebhookCursor(Base):
    """How far a webhook has been told of a source's events."""

    __tablename__ = "webhook_cursor"

    webhook_id: Mapped[WebhookId] = mapped_column(ForeignKey("webhook.id"), primary_key=True)
    source: Mapped[EventSource] = mapped_column(primary_key=True)
    subject_id: Mapped[int] = mapped_column(INT64, primary_key=True)
    """The ladder, for its runs; 0 for the other sources."""
    position: Mapped[int] = mapped_column(INT64)
    """Of the last event that it was told of or need not be; see `EventSource`."""


class WebhookDelivery(Base):
    """One event on its way to one webhook, or told to it.

    The body is made anew from the store at every try, so that a row is small.
    """

    __tablename__ = "webhook_delivery"
    __table_args__ = (
        Index("webhook_delivery_of", "webhook_id", "id"),
        Index("webhook_delivery_due", "state", "webhook_id", "next_time"),
    )

    id: Mapped[DeliveryId] = mapped_column(primary_key=True, init=False)
    webhook_id: Mapped[WebhookId] = mapped_column(ForeignKey("webhook.id"))
    message_id: Mapped[str] = mapped_column(String(40))
    """The header ``webhook-id``, the same at every try."""
    event: Mapped[WebhookEvent]
    subject_id: Mapped[int] = mapped_column(INT64)
    """The game, tournament, run, fault or webhook that it tells of."""
    event_time: Mapped[datetime]
    next_time: Mapped[datetime | None]
    """When it is to be tried, at the soonest; ``None`` once it is over."""
    state: Mapped[DeliveryState] = mapped_column(default=DeliveryState.WAITING)
    attempts: Mapped[int] = mapped_column(default=0)
    """How often it was tried, since it was last sent again by hand."""
    last_time: Mapped[datetime | None] = mapped_column(default=None)
    """When it was last tried."""
    http_status: Mapped[int | None] = mapped_column(default=None)
    """Of the last answer; ``None`` where there was none."""
    detail: Mapped[str] = mapped_column(String(WEBHOOK_DETAIL), default="")
    """How the last try ended, one sentence."""

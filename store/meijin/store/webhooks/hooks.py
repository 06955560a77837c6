"""Webhooks: made, listed, changed and deleted."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, delete, func, insert, select, update

from meijin.store.errors import UnknownWebhookError
from meijin.store.rows import columns_of, read_row, read_rows
from meijin.store.schema import (
    WEBHOOK_DETAIL,
    Bot,
    BotId,
    Ladder,
    LadderId,
    Owner,
    OwnerId,
    TournamentId,
    Webhook,
    WebhookCursor,
    WebhookDelivery,
    WebhookFormat,
    WebhookId,
)


@dataclass(frozen=True, slots=True)
class NewWebhook:
    """A webhook that is to be kept."""

    url: str
    format: WebhookFormat
    events: Sequence[str]
    """The values of those that it tells of."""
    secret: str
    owner_id: OwnerId | None = None
    bot_id: BotId | None = None
    tournament_id: TournamentId | None = None
    ladder_id: LadderId | None = None


@dataclass(frozen=True, slots=True)
class WebhookRow:
    """A webhook as it is listed."""

    id: WebhookId
    url: str
    format: WebhookFormat
    events: list[str]
    create_time: datetime
    owner_id: OwnerId | None
    owner: str
    """The owner's name; empty for one of the operators'."""
    bot_id: BotId | None
    bot: str
    tournament_id: TournamentId | None
    ladder_id: LadderId | None
    ladder: str
    failures: int
    failing_since: datetime | None
    hold_time: datetime | None
    disable_reason: str

    @property
    def is_enabled(self) -> bool:
        """Whether anything is sent."""
        return not self.disable_reason


@dataclass(frozen=True, slots=True)
class Secrets:
    """What a webhook's deliveries are signed with."""

    secret: str
    old_secret: str
    """Empty where none was replaced."""
    old_secret_end: datetime | None
    """Until when the old one is used too."""


def add_webhook(connection: Connection, new: NewWebhook, now: datetime) -> WebhookId:
    """Keep a new webhook."""
    row = insert(Webhook).values(
        url=new.url,
        format=new.format,
        events=list(new.events),
        secret=new.secret,
        create_time=now,
        owner_id=new.owner_id,
        bot_id=new.bot_id,
        tournament_id=new.tournament_id,
        ladder_id=new.ladder_id,
        failures=0,
    )
    added: WebhookId = connection.execute(row.returning(Webhook.id)).scalar_one()
    return added


def get_webhook(
    connection: Connection, webhook_id: WebhookId, owner_id: OwnerId | None = None
) -> WebhookRow:
    """A webhook; where an owner is given, one of its own.

    Raises:
        UnknownWebhookError: there is none.
    """
    query = _webhooks().where(Webhook.id == webhook_id)
    if owner_id is not None:
        query = query.where(Webhook.owner_id == owner_id)
    row = read_row(WebhookRow, connection.execute(query))
    if row is None:
        raise UnknownWebhookError(f"no webhook {webhook_id}; list the webhooks to see their ids")
    return row


def list_webhooks(
    connection: Connection, *, limit: int, after: int = 0, owner_id: OwnerId | None = None
) -> Sequence[WebhookRow]:
    """Webhooks, oldest first, from the one after the id `after`; of one owner, where it is given."""
    query = _webhooks().where(Webhook.id > after).order_by(Webhook.id).limit(limit)
    if owner_id is not None:
        query = query.where(Webhook.owner_id == owner_id)
    return read_rows(WebhookRow, connection.execute(query))


def enabled_webhooks(connection: Connection) -> Sequence[WebhookRow]:
    """Those that send, oldest first."""
    query = _webhooks().where(Webhook.disable_reason == "").order_by(Webhook.id)
    return read_rows(WebhookRow, connection.execute(query))


def count_webhooks(connection: Connection, owner_id: OwnerId | None = None) -> int:
    """How many there are; of one owner, where it is given."""
    query = select(func.count()).select_from(Webhook)
    if owner_id is not None:
        query = query.where(Webhook.owner_id == owner_id)
    return connection.scalar(query) or 0


def delete_webhook(connection: Connection, webhook_id: WebhookId) -> None:
    """Delete a webhook with all that is known of it."""
    for model in (WebhookDelivery, WebhookCursor):
        connection.execute(delete(model).where(model.webhook_id == webhook_id))
    connection.execute(delete(Webhook).where(Webhook.id == webhook_id))


def enable_webhook(connection: Connection, webhook_id: WebhookId) -> None:
    """Have a webhook send again, as if it had never failed."""
    values = {"disable_reason": "", "failures": 0, "failing_since": None, "hold_time": None}
    change_webhook(connection, webhook_id, **values)


def change_webhook(connection: Connection, webhook_id: WebhookId, **values: object) -> None:
    """Write some columns of a webhook."""
    if "disable_reason" in values:
        values["disable_reason"] = str(values["disable_reason"])[:WEBHOOK_DETAIL]
    connection.execute(update(Webhook).where(Webhook.id == webhook_id).values(values))


def secrets_of(connection: Connection, webhook_id: WebhookId) -> Secrets | None:
    """What a webhook signs with; ``None`` when it has been deleted."""
    query = select(*columns_of(Secrets, Webhook)).where(Webhook.id == webhook_id)
    return read_row(Secrets, connection.execute(query))


def replace_secret(
    connection: Connection, webhook_id: WebhookId, secret: str, old_until: datetime
) -> None:
    """Have a webhook sign with another secret, and for a while with the old one too."""
    values = {"secret": secret, "old_secret": Webhook.secret, "old_secret_end": old_until}
    change_webhook(connection, webhook_id, **values)


def _webhooks() -> Select[*tuple[Any, ...]]:
    columns = columns_of(
        WebhookRow,
        Webhook,
        owner=func.coalesce(Owner.name, ""),
        bot=func.coalesce(Bot.name, ""),
        ladder=func.coalesce(Ladder.name, ""),
    )
    return (
        select(*columns)
        .select_from(Webhook)
        .outerjoin(Owner, Owner.id == Webhook.owner_id)
        .outerjoin(Bot, Bot.id == Webhook.bot_id)
        .outerjoin(Ladder, Ladder.id == Webhook.ladder_id)
    )

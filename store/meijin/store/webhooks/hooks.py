"""Webhooks: made, listed, changed and deleted."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, delete, func, select

from meijin.store.errors import RowNotFoundError
from meijin.store.rows import change_row, columns_of, read_row, read_rows
from meijin.store.schema import (
    WEBHOOK_DETAIL,
    Bot,
    Ladder,
    Owner,
    OwnerId,
    Webhook,
    WebhookCursor,
    WebhookDelivery,
    WebhookId,
    computed,
)


class WebhookRow(Webhook):
    """A webhook as it is listed."""

    owner: str = computed(func.coalesce(Owner.name, ""))
    """The owner's name; empty for one of the operators'."""
    bot: str = computed(func.coalesce(Bot.name, ""))
    ladder: str = computed(func.coalesce(Ladder.name, ""))

    @property
    def is_enabled(self) -> bool:
        return not self.disable_reason


def get_webhook(
    connection: Connection, webhook_id: WebhookId, owner_id: OwnerId | None = None
) -> WebhookRow:
    """A webhook; where an owner is given, one of its own.

    Raises:
        RowNotFoundError: there is none.
    """
    query = _webhooks().where(Webhook.id == webhook_id)
    if owner_id is not None:
        query = query.where(Webhook.owner_id == owner_id)
    row = read_row(WebhookRow, connection.execute(query))
    if row is None:
        raise RowNotFoundError(f"no webhook {webhook_id}; list the webhooks to see their ids")
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
    for model in (WebhookDelivery, WebhookCursor):
        connection.execute(delete(model).where(model.webhook_id == webhook_id))
    connection.execute(delete(Webhook).where(Webhook.id == webhook_id))


def enable_webhook(connection: Connection, webhook_id: WebhookId) -> None:
    values = {"disable_reason": "", "failures": 0, "failing_since": None, "hold_time": None}
    change_webhook(connection, webhook_id, **values)


def change_webhook(connection: Connection, webhook_id: WebhookId, /, **values: object) -> None:
    if "disable_reason" in values:
        values["disable_reason"] = str(values["disable_reason"])[:WEBHOOK_DETAIL]
    change_row(connection, Webhook, webhook_id, **values)


def secrets_of(connection: Connection, webhook_id: WebhookId) -> Webhook | None:
    """What a webhook signs with; ``None`` when it has been deleted."""
    query = select(Webhook).where(Webhook.id == webhook_id)
    return read_row(Webhook, connection.execute(query))


def replace_secret(
    connection: Connection, webhook_id: WebhookId, secret: str, old_until: datetime
) -> None:
    """Have a webhook sign with another secret, and for a while with the old one too."""
    values = {"secret": secret, "old_secret": Webhook.secret, "old_secret_end": old_until}
    change_webhook(connection, webhook_id, **values)


def _webhooks() -> Select[*tuple[Any, ...]]:
    return (
        select(*columns_of(WebhookRow))
        .select_from(Webhook)
        .outerjoin(Owner, Owner.id == Webhook.owner_id)
        .outerjoin(Bot, Bot.id == Webhook.bot_id)
        .outerjoin(Ladder, Ladder.id == Webhook.ladder_id)
    )

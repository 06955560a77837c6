"""Deliveries: what is on its way to webhooks, and what has been."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, delete, func, insert, select, update

from meijin.store.errors import UnknownWebhookError
from meijin.store.rows import columns_of, read_row, read_rows
from meijin.store.schema import (
    WEBHOOK_DETAIL,
    DeliveryId,
    DeliveryState,
    OwnerId,
    Webhook,
    WebhookDelivery,
    WebhookEvent,
    WebhookId,
)

KEPT_DELIVERIES = 100
"""So many of a webhook's deliveries that are over are kept."""


@dataclass(frozen=True, slots=True)
class NewDelivery:
    """A delivery that is to be made."""

    webhook_id: WebhookId
    message_id: str
    event: WebhookEvent
    subject_id: int
    event_time: datetime


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """A delivery as it is listed."""

    id: DeliveryId
    webhook_id: WebhookId
    message_id: str
    event: WebhookEvent
    subject_id: int
    event_time: datetime
    state: DeliveryState
    attempts: int
    next_time: datetime | None
    last_time: datetime | None
    http_status: int | None
    detail: str


@dataclass(frozen=True, slots=True)
class Backlog:
    """What waits for a webhook."""

    webhook_id: WebhookId
    waiting: int
    first_time: datetime
    """When the first of it is due."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """How a try ended, and what becomes of the delivery."""

    delivery_id: DeliveryId
    time: datetime
    attempts: int
    """With this one."""
    state: DeliveryState
    next_time: datetime | None
    """``None`` where it is over."""
    http_status: int | None
    detail: str


def add_delivery(connection: Connection, new: NewDelivery) -> DeliveryId:
    """Keep a delivery that is due at once, at the time of its event."""
    row = insert(WebhookDelivery).values(
        webhook_id=new.webhook_id,
        message_id=new.message_id,
        event=new.event,
        subject_id=new.subject_id,
        event_time=new.event_time,
        next_time=new.event_time,
        state=DeliveryState.WAITING,
        attempts=0,
        detail="",
    )
    added: DeliveryId = connection.execute(row.returning(WebhookDelivery.id)).scalar_one()
    return added


def backlogs(connection: Connection) -> Sequence[Backlog]:
    """What waits for the webhooks that send; those for whom nothing waits are missing."""
    query = (
        select(
            WebhookDelivery.webhook_id,
            func.count().label("waiting"),
            func.min(WebhookDelivery.next_time).label("first_time"),
        )
        .join(Webhook, Webhook.id == WebhookDelivery.webhook_id)
        .where(WebhookDelivery.state == DeliveryState.WAITING, Webhook.disable_reason == "")
        .group_by(WebhookDelivery.webhook_id)
    )
    return read_rows(Backlog, connection.execute(query))


def count_waiting(connection: Connection, webhook_id: WebhookId) -> int:
    """How many deliveries wait for a webhook."""
    query = select(func.count()).where(
        WebhookDelivery.webhook_id == webhook_id, WebhookDelivery.state == DeliveryState.WAITING
    )
    return connection.scalar(query) or 0


def due_deliveries(
    connection: Connection,
    webhook_id: WebhookId,
    now: datetime,
    *,
    limit: int,
    without: Collection[DeliveryId] = (),
) -> Sequence[DeliveryRow]:
    """The oldest deliveries of a webhook that are to be tried now."""
    query = _deliveries().where(
        WebhookDelivery.webhook_id == webhook_id,
        WebhookDelivery.state == DeliveryState.WAITING,
        WebhookDelivery.next_time <= now,
        WebhookDelivery.id.not_in(without),
    )
    rows = connection.execute(query.order_by(WebhookDelivery.id).limit(limit))
    return read_rows(DeliveryRow, rows)


def list_deliveries(
    connection: Connection, webhook_id: WebhookId, *, limit: int, before: int | None = None
) -> Sequence[DeliveryRow]:
    """A webhook's deliveries, newest first, from the one before the id `before`."""
    query = _deliveries().where(WebhookDelivery.webhook_id == webhook_id)
    if before is not None:
        query = query.where(WebhookDelivery.id < before)
    rows = connection.execute(query.order_by(WebhookDelivery.id.desc()).limit(limit))
    return read_rows(DeliveryRow, rows)


def get_delivery(
    connection: Connection, delivery_id: DeliveryId, owner_id: OwnerId | None = None
) -> DeliveryRow:
    """A delivery; where an owner is given, one of its own webhooks.

    Raises:
        UnknownWebhookError: there is none.
    """
    query = _deliveries().where(WebhookDelivery.id == delivery_id)
    if owner_id is not None:
        query = query.join(Webhook, Webhook.id == WebhookDelivery.webhook_id)
        query = query.where(Webhook.owner_id == owner_id)
    row = read_row(DeliveryRow, connection.execute(query))
    if row is None:
        message = f"no delivery {delivery_id}, or not any more; list the webhook's deliveries"
        raise UnknownWebhookError(message)
    return row


def redeliver(connection: Connection, delivery_id: DeliveryId, now: datetime) -> None:
    """Have a delivery be tried anew."""
    values = {"state": DeliveryState.WAITING, "attempts": 0, "next_time": now}
    change = update(WebhookDelivery).where(WebhookDelivery.id == delivery_id)
    connection.execute(change.values(values))


def write_attempt(connection: Connection, attempt: Attempt) -> bool:
    """Write how a try ended; false when the delivery has been deleted meanwhile."""
    change = update(WebhookDelivery).where(WebhookDelivery.id == attempt.delivery_id)
    values = {
        "state": attempt.state,
        "attempts": attempt.attempts,
        "next_time": attempt.next_time,
        "last_time": attempt.time,
        "http_status": attempt.http_status,
        "detail": attempt.detail[:WEBHOOK_DETAIL],
    }
    return bool(connection.execute(change.values(values)).rowcount)


def prune(connection: Connection, webhook_ids: Iterable[WebhookId]) -> None:
    """Delete what is over of some webhooks, but for the newest."""
    for webhook_id in webhook_ids:
        is_over = (
            WebhookDelivery.webhook_id == webhook_id,
            WebhookDelivery.state != DeliveryState.WAITING,
        )
        newest = select(WebhookDelivery.id).where(*is_over).order_by(WebhookDelivery.id.desc())
        last = connection.scalar(newest.offset(KEPT_DELIVERIES).limit(1))
        if last is not None:
            old = delete(WebhookDelivery).where(*is_over, WebhookDelivery.id <= last)
            connection.execute(old)


def prune_before(connection: Connection, time: datetime) -> None:
    """Delete what has been over for long, and what waits for webhooks that are long disabled."""
    connection.execute(delete(WebhookDelivery).where(WebhookDelivery.last_time < time))
    connection.execute(
        delete(WebhookDelivery).where(
            WebhookDelivery.last_time.is_(None), WebhookDelivery.event_time < time
        )
    )


def _deliveries() -> Select[*tuple[Any, ...]]:
    return select(*columns_of(DeliveryRow, WebhookDelivery))

"""Deliveries: what is on its way to webhooks, and what has been."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection, delete, func, select, update

from meijin.store.errors import RowNotFoundError
from meijin.store.rows import add_row, change_row, read_row, read_rows
from meijin.store.schema import (
    WEBHOOK_DETAIL,
    DeliveryId,
    DeliveryState,
    OwnerId,
    Webhook,
    WebhookDelivery,
    WebhookId,
)

KEPT_DELIVERIES = 100
"""So many of a webhook's deliveries that are over are kept."""

CHANGED_BY_TRIES = ("state", "attempts", "next_time", "last_time", "http_status", "detail")


@dataclass(frozen=True, slots=True)
class Backlog:
    """What waits for a webhook."""

    webhook_id: WebhookId
    waiting: int
    first_time: datetime
    """When the first of it is due."""


def add_delivery(connection: Connection, new: WebhookDelivery) -> WebhookDelivery:
    """Keep a delivery that is due at once, at the time of its event."""
    return add_row(connection, replace(new, next_time=new.event_time))


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
) -> Sequence[WebhookDelivery]:
    """The oldest deliveries of a webhook that are to be tried now."""
    query = select(WebhookDelivery).where(
        WebhookDelivery.webhook_id == webhook_id,
        WebhookDelivery.state == DeliveryState.WAITING,
        WebhookDelivery.next_time <= now,
        WebhookDelivery.id.not_in(without),
    )
    rows = connection.execute(query.order_by(WebhookDelivery.id).limit(limit))
    return read_rows(WebhookDelivery, rows)


def list_deliveries(
    connection: Connection, webhook_id: WebhookId, *, limit: int, before: int | None = None
) -> Sequence[WebhookDelivery]:
    """A webhook's deliveries, newest first, from the one before the id `before`."""
    query = select(WebhookDelivery).where(WebhookDelivery.webhook_id == webhook_id)
    if before is not None:
        query = query.where(WebhookDelivery.id < before)
    rows = connection.execute(query.order_by(WebhookDelivery.id.desc()).limit(limit))
    return read_rows(WebhookDelivery, rows)


def get_delivery(
    connection: Connection, delivery_id: DeliveryId, owner_id: OwnerId | None = None
) -> WebhookDelivery:
    """A delivery; where an owner is given, one of its own webhooks.

    Raises:
        RowNotFoundError: there is none.
    """
    query = select(WebhookDelivery).where(WebhookDelivery.id == delivery_id)
    if owner_id is not None:
        query = query.join(Webhook, Webhook.id == WebhookDelivery.webhook_id)
        query = query.where(Webhook.owner_id == owner_id)
    row = read_row(WebhookDelivery, connection.execute(query))
    if row is None:
        message = f"no delivery {delivery_id}, or not any more; list the webhook's deliveries"
        raise RowNotFoundError(message)
    return row


def redeliver(connection: Connection, delivery_id: DeliveryId, now: datetime) -> None:
    values = {"state": DeliveryState.WAITING, "attempts": 0, "next_time": now}
    change_row(connection, WebhookDelivery, delivery_id, **values)


def write_attempt(connection: Connection, after: WebhookDelivery) -> bool:
    """Write what became of a delivery by a try; false when it has been deleted meanwhile."""
    change = update(WebhookDelivery).where(WebhookDelivery.id == after.id)
    values = {name: getattr(after, name) for name in CHANGED_BY_TRIES}
    values["detail"] = after.detail[:WEBHOOK_DETAIL]
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

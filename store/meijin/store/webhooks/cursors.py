"""Cursors: how far each webhook has been told of each source."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from meijin.store.schema import EventSource, LadderId, Webhook, WebhookCursor, WebhookId
from meijin.store.webhooks.events import last_position, published_runs


@dataclass(frozen=True, slots=True)
class Cursor:
    """What a webhook's position is counted in."""

    webhook_id: WebhookId
    source: EventSource
    ladder_id: LadderId | None = None
    """Of runs alone."""

    @property
    def subject_id(self) -> int:
        """As it is stored."""
        return self.ladder_id or 0


@dataclass(frozen=True, slots=True)
class Advance:
    """A step of a cursor."""

    cursor: Cursor
    before: int
    after: int


def begin_now(
    connection: Connection, webhook_id: WebhookId, sources: Iterable[EventSource]
) -> None:
    """Have a webhook be told of what happens from now on."""
    connection.execute(delete(WebhookCursor).where(WebhookCursor.webhook_id == webhook_id))
    positions: dict[Cursor, int] = {}
    for source in sources:
        if source is EventSource.LADDERS:
            for run in published_runs(connection):
                positions[Cursor(webhook_id, source, run.ladder_id)] = run.position
        else:
            positions[Cursor(webhook_id, source)] = last_position(connection, source)
    for cursor, position in positions.items():
        _add(connection, cursor, position)


def positions_of_enabled(connection: Connection) -> Mapping[Cursor, int]:
    """The positions of all webhooks that send; 0 where a ladder is newer than the webhook."""
    query = (
        select(
            WebhookCursor.webhook_id,
            WebhookCursor.source,
            WebhookCursor.subject_id,
            WebhookCursor.position,
        )
        .join(Webhook, Webhook.id == WebhookCursor.webhook_id)
        .where(Webhook.disable_reason == "")
    )
    return {
        Cursor(row.webhook_id, row.source, LadderId(row.subject_id) or None): row.position
        for row in connection.execute(query)
    }


def advance(connection: Connection, step: Advance) -> bool:
    """Take a step, if the cursor stands where it begins: a repeated step is none."""
    cursor = step.cursor
    here = (
        WebhookCursor.webhook_id == cursor.webhook_id,
        WebhookCursor.source == cursor.source,
        WebhookCursor.subject_id == cursor.subject_id,
    )
    change = update(WebhookCursor).where(*here, WebhookCursor.position == step.before)
    if connection.execute(change.values(position=step.after)).rowcount:
        return True
    exists = connection.scalar(select(WebhookCursor.position).where(*here)) is not None
    is_there = connection.scalar(select(Webhook.id).where(Webhook.id == cursor.webhook_id))
    if exists or is_there is None:
        return False
    _add(connection, cursor, step.after)
    return True


def _add(connection: Connection, cursor: Cursor, position: int) -> None:
    row = {
        "webhook_id": cursor.webhook_id,
        "source": cursor.source,
        "subject_id": cursor.subject_id,
        "position": position,
    }
    connection.execute(insert(WebhookCursor).values(row))

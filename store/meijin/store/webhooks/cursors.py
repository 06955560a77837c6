"""Cursors: how far each webhook has been told of each source."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from sqlalchemy import Connection, delete, select, update

from meijin.store.rows import add_rows, read_rows
from meijin.store.schema import EventSource, Webhook, WebhookCursor, WebhookId
from meijin.store.webhooks.events import last_position, published_runs


def begin_now(
    connection: Connection, webhook_id: WebhookId, sources: Iterable[EventSource]
) -> None:
    """Have a webhook be told of what happens from now on."""
    connection.execute(delete(WebhookCursor).where(WebhookCursor.webhook_id == webhook_id))
    positions: list[tuple[EventSource, int, int]] = []
    for source in sources:
        if source is EventSource.LADDERS:
            runs = published_runs(connection)
            positions += [(source, run.ladder_id or 0, run.position) for run in runs]
        else:
            positions.append((source, 0, last_position(connection, source)))
    add_rows(
        connection,
        (
            WebhookCursor(
                webhook_id=webhook_id, source=source, subject_id=subject_id, position=position
            )
            for source, subject_id, position in positions
        ),
    )


def cursors_of_enabled(
    connection: Connection,
) -> Mapping[tuple[WebhookId, EventSource, int], WebhookCursor]:
    """The cursors of all webhooks that send; none where a ladder is newer than the webhook."""
    query = (
        select(WebhookCursor)
        .join(Webhook, Webhook.id == WebhookCursor.webhook_id)
        .where(Webhook.disable_reason == "")
    )
    cursors = read_rows(WebhookCursor, connection.execute(query))
    return {each.key: each for each in cursors}


def advance(connection: Connection, cursor: WebhookCursor, after: int) -> bool:
    """Move a cursor, if it stands where it is taken from: a repeated step is none."""
    here = (
        WebhookCursor.webhook_id == cursor.webhook_id,
        WebhookCursor.source == cursor.source,
        WebhookCursor.subject_id == cursor.subject_id,
    )
    change = update(WebhookCursor).where(*here, WebhookCursor.position == cursor.position)
    if connection.execute(change.values(position=after)).rowcount:
        return True
    exists = connection.scalar(select(WebhookCursor.position).where(*here)) is not None
    is_there = connection.scalar(select(Webhook.id).where(Webhook.id == cursor.webhook_id))
    if exists or is_there is None:
        return False
    add_rows(connection, [replace(cursor, position=after)])
    return True

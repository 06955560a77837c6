"""Dispatch: which events go to which webhooks, from where each has got to."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import cache, partial
from typing import TypeAlias

from sqlalchemy import Connection

from meijin.server.webhooks.message import new_message_id
from meijin.store.schema import EventSource, WebhookCursor, WebhookDelivery, WebhookEvent, WebhookId
from meijin.store.webhooks.cursors import advance, cursors_of_enabled
from meijin.store.webhooks.deliveries import add_delivery, backlogs
from meijin.store.webhooks.events import SOURCES, StoredEvent, events_after, published_runs
from meijin.store.webhooks.hooks import WebhookRow, enabled_webhooks

MAX_WAITING = 100
"""Deliveries that wait for one webhook: what happens beyond them is read later from the store."""

SCANNED = 200
"""Events of a source that are looked at in one go."""

Step: TypeAlias = tuple[WebhookCursor, int, Sequence[WebhookDelivery]]
"""A webhook's cursor, how far it gets, and what the webhook is told on the way."""


def sources_of(events: Iterable[str]) -> frozenset[EventSource]:
    return frozenset(SOURCES[WebhookEvent(event)] for event in events)


def concerns(hook: WebhookRow, event: StoredEvent) -> bool:
    is_public = event.event is WebhookEvent.LADDER_PUBLISHED
    return (
        event.event.value in hook.events
        and (is_public or hook.owner_id is None or hook.owner_id in event.owners)
        and (hook.bot_id is None or hook.bot_id in event.bots)
        and hook.tournament_id in {None, event.tournament_id}
        and hook.ladder_id in {None, event.ladder_id}
    )


def new_delivery(
    webhook_id: WebhookId, event: WebhookEvent, subject_id: int, time: datetime
) -> WebhookDelivery:
    return WebhookDelivery(
        webhook_id=webhook_id,
        message_id=new_message_id(),
        event=event,
        subject_id=subject_id,
        event_time=time,
    )


def plan_steps(connection: Connection, now: datetime) -> Sequence[Step]:
    """The events that go to the webhooks next; nothing is written.

    A step without deliveries is left out, unless it is a long one: to look at its events again
    costs less than a commit.
    """
    hooks = enabled_webhooks(connection)
    waiting = Counter({each.webhook_id: each.waiting for each in backlogs(connection)})
    steps: list[Step] = []
    if all(waiting[hook.id] >= MAX_WAITING for hook in hooks):
        return steps
    for hook, cursor, events in _unread(connection, hooks):
        room = MAX_WAITING - waiting[hook.id]
        after, deliveries = _tell(hook, cursor.position, events, room=room, now=now)
        waiting[hook.id] += len(deliveries)
        if deliveries or (len(events) == SCANNED and after == events[-1].position):
            steps.append((cursor, after, deliveries))
    return steps


def write_steps(connection: Connection, steps: Iterable[Step]) -> None:
    """Store the deliveries, together with the positions that they take their webhooks to."""
    for cursor, after, deliveries in steps:
        if advance(connection, cursor, after):
            for delivery in deliveries:
                add_delivery(connection, delivery)


def _unread(
    connection: Connection, hooks: Iterable[WebhookRow]
) -> Iterator[tuple[WebhookRow, WebhookCursor, Sequence[StoredEvent]]]:
    """The next events of each webhook; those that stand at the same place share one query."""
    events_of = cache(partial(events_after, connection, limit=SCANNED))
    runs = cache(partial(published_runs, connection))
    kept = cursors_of_enabled(connection)

    def cursor_of(hook: WebhookRow, source: EventSource, subject_id: int = 0) -> WebhookCursor:
        new = WebhookCursor(webhook_id=hook.id, source=source, subject_id=subject_id)
        return kept.get(new.key, new)

    for hook in hooks:
        for source in sources_of(hook.events):
            if source is EventSource.LADDERS:
                for run in runs():
                    cursor = cursor_of(hook, source, run.ladder_id or 0)
                    if run.position > cursor.position and concerns(hook, run):
                        yield hook, cursor, [run]
            else:
                cursor = cursor_of(hook, source)
                if events := events_of(source, cursor.position):
                    yield hook, cursor, events


def _tell(
    hook: WebhookRow, after: int, events: Iterable[StoredEvent], *, room: int, now: datetime
) -> tuple[int, Sequence[WebhookDelivery]]:
    """The position that a webhook gets to while there is room, and the deliveries on the way."""
    deliveries: list[WebhookDelivery] = []
    for event in events:
        if concerns(hook, event):
            if len(deliveries) >= room:
                break
            time = event.time or now
            deliveries.append(new_delivery(hook.id, event.event, event.subject_id, time))
        after = event.position
    return after, deliveries

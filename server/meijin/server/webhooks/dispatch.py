"""Dispatch: which webhooks are told of what, from where each has got to."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from meijin.server.webhooks.signature import new_message_id
from meijin.store.schema import EventSource, WebhookEvent
from meijin.store.webhooks.cursors import Advance, Cursor, advance, positions_of_enabled
from meijin.store.webhooks.deliveries import NewDelivery, add_delivery, backlogs
from meijin.store.webhooks.events import SOURCES, StoredEvent, events_after, published_runs
from meijin.store.webhooks.hooks import WebhookRow, enabled_webhooks

MAX_WAITING = 100
"""Deliveries that wait for one webhook: what happens beyond them is read later from the store."""

SCANNED = 200
"""Events of a source that are looked at in one go."""


@dataclass(frozen=True, slots=True)
class Step:
    """How far a webhook gets, and what it is told on the way."""

    advance: Advance
    deliveries: Sequence[NewDelivery]


def sources_of(events: Iterable[str]) -> frozenset[EventSource]:
    """Where some events are read, by their values."""
    return frozenset(SOURCES[WebhookEvent(event)] for event in events)


def concerns(hook: WebhookRow, event: StoredEvent) -> bool:
    """Whether a webhook is to be told of an event."""
    is_public = event.event is WebhookEvent.LADDER_PUBLISHED
    return (
        event.event.value in hook.events
        and (is_public or hook.owner_id is None or hook.owner_id in event.owners)
        and (hook.bot_id is None or hook.bot_id in event.bots)
        and hook.tournament_id in {None, event.tournament_id}
        and hook.ladder_id in {None, event.ladder_id}
    )


def plan_steps(connection: Connection, now: datetime) -> Sequence[Step]:
    """What the webhooks are to be told of next; nothing is written.

    A step that tells nothing is left out, unless it is a long one: the events on it cost less to
    be looked at again than a commit.
    """
    hooks = {hook.id: hook for hook in enabled_webhooks(connection)}
    room = dict.fromkeys(hooks, MAX_WAITING)
    for backlog in backlogs(connection):
        room[backlog.webhook_id] -= backlog.waiting
    if not any(left > 0 for left in room.values()):
        return []
    positions = positions_of_enabled(connection)
    steps: list[Step] = []
    for cursor, before, events in _unread(connection, hooks.values(), positions):
        hook = hooks[cursor.webhook_id]
        step = _step(hook, Advance(cursor, before, before), events, room=room[hook.id], now=now)
        room[hook.id] -= len(step.deliveries)
        if step.deliveries or step.advance.after == _end_of_page(events):
            steps.append(step)
    return steps


def write_steps(connection: Connection, steps: Iterable[Step]) -> None:
    """Keep what webhooks are to be told of, together with where that takes them."""
    for step in steps:
        if advance(connection, step.advance):
            for delivery in step.deliveries:
                add_delivery(connection, delivery)


_Unread = tuple[Cursor, int, Sequence[StoredEvent]]


def _unread(
    connection: Connection, hooks: Iterable[WebhookRow], positions: Mapping[Cursor, int]
) -> Iterator[_Unread]:
    """The next events of each webhook; those that stand at the same place share one query."""
    alike: defaultdict[tuple[EventSource, int], list[Cursor]] = defaultdict(list)
    to_ladders: list[WebhookRow] = []
    for hook in hooks:
        for source in sources_of(hook.events):
            if source is EventSource.LADDERS:
                to_ladders.append(hook)
            else:
                cursor = Cursor(hook.id, source)
                alike[source, positions.get(cursor, 0)].append(cursor)
    for (source, position), cursors in alike.items():
        events = events_after(connection, source, position, SCANNED)
        yield from ((cursor, position, events) for cursor in cursors if events)
    if to_ladders:
        runs = published_runs(connection)
        yield from _unread_runs(to_ladders, runs, positions)


def _unread_runs(
    hooks: Iterable[WebhookRow], runs: Sequence[StoredEvent], positions: Mapping[Cursor, int]
) -> Iterator[_Unread]:
    for hook in hooks:
        for run in runs:
            cursor = Cursor(hook.id, EventSource.LADDERS, run.ladder_id)
            position = positions.get(cursor, 0)
            if run.position > position and concerns(hook, run):
                yield cursor, position, [run]


def _step(
    hook: WebhookRow, start: Advance, events: Iterable[StoredEvent], *, room: int, now: datetime
) -> Step:
    """How far a webhook gets with room for so many deliveries."""
    after, deliveries = start.before, list[NewDelivery]()
    for event in events:
        if concerns(hook, event):
            if len(deliveries) >= room:
                break
            time = event.time or now
            new = NewDelivery(hook.id, new_message_id(), event.event, event.subject_id, time)
            deliveries.append(new)
        after = event.position
    return Step(Advance(start.cursor, start.before, after), deliveries)


def _end_of_page(events: Sequence[StoredEvent]) -> int | None:
    """The position of the last of as many events as are looked at; ``None`` of fewer."""
    return events[-1].position if len(events) == SCANNED else None

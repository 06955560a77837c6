"""The deliverer: stores what webhooks are to be told, and sends what is due, while the server runs."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import count
from random import Random
from typing import NamedTuple, TypeAlias

import structlog
from sqlalchemy import Connection

from meijin.server.errors import StoreAwayError
from meijin.server.storage import Storage
from meijin.server.webhooks.dispatch import plan_steps, write_steps
from meijin.server.webhooks.egress import (
    EgressPolicy,
    Resolve,
    TargetError,
    in_daemon_thread,
    parse_url,
    resolve_host,
)
from meijin.server.webhooks.message import Payload, body_of, signed_headers
from meijin.server.webhooks.post import Post, post
from meijin.server.webhooks.retries import AttemptResult, delivery_after, health_after
from meijin.store.schema import DeliveryId, OwnerId, WebhookDelivery, WebhookEvent, WebhookId
from meijin.store.webhooks import deliveries as store
from meijin.store.webhooks.deliveries import Backlog
from meijin.store.webhooks.hooks import (
    WebhookRow,
    change_webhook,
    enabled_webhooks,
    get_webhook,
    secrets_of,
)

log = structlog.get_logger()

LOOK_INTERVAL = timedelta(seconds=1)
"""Between two looks at what has happened, while there is a webhook."""

REST = timedelta(seconds=0.1)
"""After whatever was done: what ends meanwhile is written in one commit."""

PRUNE_INTERVAL = timedelta(hours=1)

KEPT_FOR = timedelta(days=30)
"""How long a delivery that is over is kept, at most."""

REQUEST_LIMIT = timedelta(seconds=15)
"""For a receiver to answer."""

MAX_SENDING = 32
"""Requests that are under way at once, each in a thread."""

MAX_SENDING_TO_OWNER = 8
"""Of them, to the webhooks of one owner."""

MAX_SENDING_TO_WEBHOOK = 4
"""Of them, to one webhook; one alone to a webhook that fails."""

USER_AGENT = "Meijin-Webhooks"

Render: TypeAlias = Callable[[Connection, WebhookEvent, int, datetime], Payload | None]
"""Makes the payload of an event and its subject; ``None`` where that is not stored any more."""


class _Due(NamedTuple):
    """A delivery that is to be tried now."""

    hook: WebhookRow
    delivery: WebhookDelivery


_Message: TypeAlias = tuple[Mapping[str, str], bytes]
"""The headers and the body of a request."""

_Results: TypeAlias = Sequence[tuple[WebhookDelivery, AttemptResult]]


class Deliverer:
    """Delivers to webhooks.

    Everything is stored before it is tried, and what has ended before it is forgotten, so that a
    delivery comes at least once, however the server ends. The event loop does no more than to hand
    work to threads.

    Args:
        render: Makes the payload of an event.
        policy: Where webhooks of the operators may send; those of owners reach public addresses.
        clock: The time; a test's own.
        send: Sends a request.
        resolve: Finds the addresses of a host.
    """

    def __init__(
        self,
        storage: Storage,
        render: Render,
        *,
        policy: EgressPolicy,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        send: Post = post,
        resolve: Resolve = resolve_host,
    ) -> None:
        self._storage = storage
        self._render = render
        self._policy = policy
        self._clock = clock
        self._send = send
        self._resolve = resolve
        self._rng = Random()  # noqa: S311 - jitter
        self._wake = asyncio.Event()
        self._sending: dict[DeliveryId, _Due] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._results: list[tuple[WebhookDelivery, AttemptResult]] = []
        self._turns: dict[WebhookId, int] = {}
        """When each was last sent something, by a count: who has waited longest comes first."""
        self._count = count(1)
        self._prune_time = clock()

    def wake(self) -> None:
        """Look at once: a webhook or a delivery has been changed."""
        self._wake.set()

    async def run(self) -> None:
        """Deliver; what is being sent when it ends is sent again by the next server."""
        try:
            while True:
                self._wake.clear()
                has_hooks = True
                with suppress(StoreAwayError):
                    has_hooks = await self.step()
                with suppress(TimeoutError):
                    async with asyncio.timeout(
                        LOOK_INTERVAL.total_seconds() if has_hooks else None
                    ):
                        await self._wake.wait()
                await asyncio.sleep(REST.total_seconds())
        finally:
            for task in self._tasks:
                task.cancel()

    async def step(self) -> bool:
        """Store what has ended and what has happened, and begin to send what is due.

        Returns:
            Whether there is a webhook at all.
        """
        await self._write_results()
        now = self._clock()
        if steps := await self._storage.read(plan_steps, now):
            await self._storage.write(write_steps, steps)
        if now >= self._prune_time:
            await self._storage.write(store.prune_before, time=now - KEPT_FOR)
            self._prune_time = now + PRUNE_INTERVAL
        hooks = await self._storage.read(enabled_webhooks)
        self._turns = {hook.id: self._turns.get(hook.id, 0) for hook in hooks}
        for due in await self._storage.read(self._due, hooks, now):
            self._sending[due.delivery.id] = due
            self._turns[due.hook.id] = next(self._count)
            task = asyncio.create_task(self._deliver(due))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return bool(hooks or self._sending)

    def _due(
        self, connection: Connection, hooks: Sequence[WebhookRow], now: datetime
    ) -> Sequence[_Due]:
        """What is to be sent now, first to those who have waited longest, as far as threads are free."""
        due: list[_Due] = []
        waiting = {backlog.webhook_id: backlog for backlog in store.backlogs(connection)}
        sending = dict(self._sending)
        per_hook = Counter(each.hook.id for each in sending.values())
        per_owner = Counter(each.hook.owner_id for each in sending.values())
        free = MAX_SENDING - len(sending)
        for hook in sorted(hooks, key=lambda hook: self._turns[hook.id]):
            room = min(free, _room(hook, waiting.get(hook.id), per_hook, per_owner, now))
            if room > 0:
                rows = store.due_deliveries(
                    connection, hook.id, now, limit=room, without=list(sending)
                )
                due += (_Due(hook, row) for row in rows)
                free -= len(rows)
                per_owner[hook.owner_id] += len(rows)
        return due

    async def _deliver(self, due: _Due) -> None:
        """Try a delivery; where the store is away it is tried later, as if it had not begun."""
        try:
            message = await self._storage.read(self._message, due)
            if message is None:
                result = AttemptResult(detail="what it tells of is stored no more", is_final=True)
            else:
                name = f"webhook-{due.hook.id}"
                result = await in_daemon_thread(name, self._post, due.hook, message)
        except StoreAwayError:
            del self._sending[due.delivery.id]
            return
        except Exception:
            log.exception("a webhook's event can't be told", delivery=due.delivery.id)
            result = AttemptResult(detail="the server failed to make the message", is_final=True)
        self._results.append((due.delivery, result))
        self._wake.set()

    def _message(self, connection: Connection, due: _Due) -> _Message | None:
        """What is sent, as of now: signed anew at every try."""
        delivery, now = due.delivery, self._clock()
        secrets = secrets_of(connection, due.hook.id)
        payload = self._render(connection, delivery.event, delivery.subject_id, delivery.event_time)
        if secrets is None or payload is None:
            return None
        body, used = body_of(payload, due.hook.format), [secrets.secret]
        if secrets.old_secret_end is not None and now < secrets.old_secret_end:
            used.append(secrets.old_secret)
        headers = {"Content-Type": "application/json", "User-Agent": USER_AGENT}
        return headers | signed_headers(used, delivery.message_id, now, body), body

    def _post(self, hook: WebhookRow, message: _Message) -> AttemptResult:
        policy = self._policy if hook.owner_id is None else EgressPolicy()
        try:
            target = policy.resolve(parse_url(hook.url), self._resolve)
        except TargetError as error:
            return AttemptResult(detail=f"not sent: {error}")
        except OSError as error:
            return AttemptResult(detail=f"the host has no address: {error.strerror or error}")
        return self._send(target, *message, REQUEST_LIMIT)

    async def _write_results(self) -> None:
        """Store how tries ended; they count as being sent until that is done."""
        results = list(self._results)
        if not results:
            return
        disabled = await self._storage.write(_write, results, self._clock(), self._rng)
        for hook_id, reason in disabled.items():
            log.warning("a webhook is disabled", webhook=hook_id, reason=reason)
        del self._results[: len(results)]
        for delivery, _ in results:
            del self._sending[delivery.id]


def _room(
    hook: WebhookRow,
    backlog: Backlog | None,
    per_hook: Mapping[WebhookId, int],
    per_owner: Mapping[OwnerId | None, int],
    now: datetime,
) -> int:
    """How many more requests a webhook may be sent now."""
    is_held = hook.hold_time is not None and now < hook.hold_time
    if backlog is None or backlog.first_time > now or is_held:
        return 0
    room = (1 if hook.failures else MAX_SENDING_TO_WEBHOOK) - per_hook.get(hook.id, 0)
    if hook.owner_id is not None:
        room = min(room, MAX_SENDING_TO_OWNER - per_owner.get(hook.owner_id, 0))
    return room


def _write(
    connection: Connection, results: _Results, now: datetime, rng: Random
) -> Mapping[WebhookId, object]:
    """Store how tries ended; return the webhooks that are disabled by it, and why."""
    disabled: dict[WebhookId, object] = {}
    over: set[WebhookId] = set()
    for delivery, result in results:
        after = delivery_after(delivery, result, now, rng)
        if not store.write_attempt(connection, after):
            continue  # the webhook was deleted meanwhile
        if after.next_time is None:
            over.add(delivery.webhook_id)
        hook = get_webhook(connection, delivery.webhook_id)
        if health := health_after(hook, result, now):
            change_webhook(connection, hook.id, **health)
            if hook.is_enabled and (reason := health.get("disable_reason")):
                disabled[hook.id] = reason
    store.prune(connection, over)
    return disabled

"""The deliverer: stores what webhooks are to be told, and sends what is due, while the server runs."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from random import Random
from typing import TypeAlias

import structlog
from sqlalchemy import Connection

from meijin.server.errors import StoreAwayError
from meijin.server.storage import Storage
from meijin.server.webhooks.bodies import Payload, body_of
from meijin.server.webhooks.dispatch import plan_steps, write_steps
from meijin.server.webhooks.post import Post, PostError, post
from meijin.server.webhooks.retries import Health, Result, attempt_of, health_after
from meijin.server.webhooks.signature import signed_headers
from meijin.server.webhooks.targets import (
    Reach,
    Resolve,
    TargetError,
    parse_url,
    resolve_host,
)
from meijin.server.webhooks.threads import in_daemon_thread
from meijin.store.schema import DeliveryId, DeliveryState, OwnerId, WebhookEvent, WebhookId
from meijin.store.webhooks import deliveries as store
from meijin.store.webhooks.deliveries import Attempt, Backlog, DeliveryRow
from meijin.store.webhooks.hooks import (
    Secrets,
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
"""What is told about an event and its subject; ``None`` where that is not stored any more."""


@dataclass(frozen=True, slots=True)
class _Due:
    """A delivery that is to be tried now."""

    hook: WebhookRow
    delivery: DeliveryRow


@dataclass(frozen=True, slots=True)
class _Message:
    """What is sent."""

    headers: Mapping[str, str]
    body: bytes


class Deliverer:
    """Delivers to webhooks.

    Everything is stored before it is tried, and what has ended before it is forgotten, so that a
    delivery comes at least once, however the server ends. The event loop does no more than to hand
    work to threads.

    Args:
        render: Makes what is told of an event.
        networks: What webhooks of the operators reach besides public addresses.
        clock: The time; a test's own.
        send: Sends a request.
        resolve: Finds the addresses of a host.
        rng: Draws the jitter of retries.
    """

    def __init__(
        self,
        storage: Storage,
        render: Render,
        *,
        reach: Reach,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        send: Post = post,
        resolve: Resolve = resolve_host,
        rng: Random | None = None,
    ) -> None:
        self._storage = storage
        self._render = render
        self._reach = reach
        self._clock = clock
        self._send = send
        self._resolve = resolve
        self._rng = rng or Random()  # noqa: S311 - jitter
        self._wake = asyncio.Event()
        self._sending: dict[DeliveryId, _Due] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._results: list[tuple[DeliveryRow, Result]] = []
        self._turns: dict[WebhookId, int] = {}
        """When each was last sent something, by a count: who has waited longest comes first."""
        self._count = count(1)
        self._prune_time = clock()

    def wake(self) -> None:
        """Look at once: a webhook or a delivery has been changed."""
        self._wake.set()

    async def run(self) -> None:
        """Deliver for ever; what is being sent when it ends is sent again by the next server."""
        try:
            while True:
                await self._look()
                await asyncio.sleep(REST.total_seconds())
        finally:
            for task in self._tasks:
                task.cancel()

    async def _look(self) -> None:
        """Do what there is to be done, and wait until there may be more."""
        self._wake.clear()
        interval: timedelta | None = LOOK_INTERVAL
        with suppress(StoreAwayError):
            interval = LOOK_INTERVAL if await self.step() else None
        with suppress(TimeoutError):
            async with asyncio.timeout(None if interval is None else interval.total_seconds()):
                await self._wake.wait()

    async def step(self) -> bool:
        """Store what has ended and what has happened, and begin to send what is due.

        Returns:
            Whether there is a webhook at all.
        """
        await self._write_results()
        now = self._clock()
        steps = await self._storage.read(plan_steps, now=now)
        if steps:
            await self._storage.write(write_steps, steps=steps)
        if now >= self._prune_time:
            await self._storage.write(store.prune_before, time=now - KEPT_FOR)
            self._prune_time = now + PRUNE_INTERVAL
        hooks = await self._storage.read(enabled_webhooks)
        self._turns = {hook.id: self._turns.get(hook.id, 0) for hook in hooks}
        for due in await self._storage.read(self._due, hooks=hooks, now=now):
            self._begin(due)
        return bool(hooks or self._sending)

    async def settle(self) -> None:
        """Wait for what is being sent, and store how it ended."""
        while self._tasks:
            await asyncio.wait(self._tasks)
        await self._write_results()

    def _due(
        self, connection: Connection, *, hooks: Sequence[WebhookRow], now: datetime
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

    def _begin(self, due: _Due) -> None:
        self._sending[due.delivery.id] = due
        self._turns[due.hook.id] = next(self._count)
        task = asyncio.create_task(self._deliver(due))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _deliver(self, due: _Due) -> None:
        """Try a delivery; where the store is away it is tried later, as if it had not begun."""
        try:
            result = await self._try(due)
        except StoreAwayError:
            del self._sending[due.delivery.id]
            return
        except Exception:
            log.exception("a webhook's event can't be told", delivery=due.delivery.id)
            result = self._result(detail="the server failed to make the message", is_final=True)
        self._results.append((due.delivery, result))
        self._wake.set()

    async def _try(self, due: _Due) -> Result:
        message = await self._storage.read(self._message, due=due)
        if message is None:
            return self._result(detail="what it tells of is stored no more", is_final=True)
        name = f"webhook-{due.hook.id}"
        return await in_daemon_thread(partial(self._post, due.hook, message), name)

    def _message(self, connection: Connection, *, due: _Due) -> _Message | None:
        """What is sent, as of now: signed anew at every try."""
        delivery = due.delivery
        secrets = secrets_of(connection, due.hook.id)
        payload = self._render(connection, delivery.event, delivery.subject_id, delivery.event_time)
        if secrets is None or payload is None:
            return None
        now, body = self._clock(), body_of(payload, due.hook.format)
        headers = {
            "Content-Type": "application/json",
            "User-Agent": USER_AGENT,
            **signed_headers(_used(secrets, now), delivery.message_id, now, body),
        }
        return _Message(headers, body)

    def _post(self, hook: WebhookRow, message: _Message) -> Result:
        """Send a message, in a thread."""
        reach = self._reach if hook.owner_id is None else Reach()
        try:
            target = reach.find(parse_url(hook.url), self._resolve)
            answer = self._send(target, message.headers, message.body, REQUEST_LIMIT)
        except TargetError as error:
            return self._result(detail=f"not sent: {error}")
        except PostError as error:
            return self._result(detail=str(error))
        except OSError as error:
            return self._result(detail=f"the host has no address: {error.strerror or error}")
        return self._result(http_status=answer.status, retry_after=answer.retry_after)

    def _result(
        self,
        *,
        http_status: int | None = None,
        detail: str = "",
        retry_after: timedelta | None = None,
        is_final: bool = False,
    ) -> Result:
        return Result(self._clock(), http_status, detail, retry_after, is_final)

    async def _write_results(self) -> None:
        """Store how tries ended; they count as being sent until that is done."""
        results = list(self._results)
        if not results:
            return
        attempts = [attempt_of(delivery, result, self._rng) for delivery, result in results]
        changes = list(zip(results, attempts, strict=True))
        disabled = await self._storage.write(_write, changes=changes)
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


def _used(secrets: Secrets, now: datetime) -> Sequence[str]:
    """What a message is signed with: the old secret too, for a while after it was replaced."""
    until = secrets.old_secret_end
    is_old_used = until is not None and now < until
    return (secrets.secret, secrets.old_secret) if is_old_used else (secrets.secret,)


_Change: TypeAlias = tuple[tuple[DeliveryRow, Result], Attempt]


def _write(connection: Connection, *, changes: Sequence[_Change]) -> dict[WebhookId, str]:
    """Store how tries ended; return the webhooks that are disabled by it, and why."""
    disabled: dict[WebhookId, str] = {}
    for (delivery, result), attempt in changes:
        if not store.write_attempt(connection, attempt):
            continue  # the webhook was deleted meanwhile
        hook = get_webhook(connection, delivery.webhook_id)
        before = Health(hook.failures, hook.failing_since, hook.hold_time, hook.disable_reason)
        after = health_after(before, result)
        if after != before:
            change_webhook(connection, hook.id, **asdict(after))
        if after.disable_reason and not before.disable_reason:
            disabled[hook.id] = after.disable_reason
    over = {delivery.webhook_id for (delivery, _), attempt in changes if _is_over(attempt)}
    store.prune(connection, over)
    return disabled


def _is_over(attempt: Attempt) -> bool:
    return attempt.state is not DeliveryState.WAITING

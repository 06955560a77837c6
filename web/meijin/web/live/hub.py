"""The hub: the topics that browsers watch, each asked of the server once, and how many may be."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from http import HTTPStatus
from typing import TypeAlias

from meijin.web.gateway import DisplayNames, Gateway
from meijin.web.live.cell import Cell
from meijin.web.live.subscription import Subscription
from meijin.web.live.topics import Topic
from meijin.web.live.watcher import Watcher, tell_each
from meijin.web.refusals import Refusal
from meijin.web.wording import text

MAX_STREAMS = 3000
"""Of all browsers together."""

MAX_STREAMS_OF_HOST = 1200
"""Of one address, behind which there may be a proxy."""

MAX_SUBSCRIPTIONS = 90
"""Topics that are watched at once, by any number of browsers: a server lets an address have 100."""

WRITE_TIMEOUT = timedelta(seconds=10)
"""How long a frame may wait for its socket before the connection is cut."""

BEAT_INTERVAL = timedelta(seconds=15)
"""Between two signs of life on a stream where nothing happens."""

SWEEP_INTERVAL = timedelta(seconds=2.5)

COME_BACK = timedelta(seconds=20)
"""When one who is refused may try again."""

Key: TypeAlias = tuple[Topic, str, timedelta]
"""What is watched: a topic, with whose token, and by how much it is held back."""


class LiveHub:
    """Every stream of live boards, and what they watch."""

    def __init__(self, gateway: Gateway, closing: asyncio.Event, names: DisplayNames) -> None:
        self._gateway = gateway
        self._names = names
        self._closing = closing
        self._subscriptions: dict[Key, Subscription] = {}
        self._watchers: set[Watcher] = set()
        self._of_hosts: Counter[str] = Counter()
        self._sweeping: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def watching(
        self, watcher: Watcher, host: str, topics: Sequence[Topic], *, token: str, delay: timedelta
    ) -> AsyncIterator[list[Cell]]:
        """Have topics watched for a browser as long as the context lasts.

        Raises:
            Refusal: there is no room for it.
        """
        keys = [(topic, token, delay) for topic in topics]
        self._check(host, keys)
        self._enter(watcher, host)
        try:
            yield [self._subscribe(key, watcher).cell for key in keys]
        finally:
            self._leave(watcher, host)
            await self._unsubscribe(keys, watcher)

    @property
    def is_idle(self) -> bool:
        return not (self._watchers or self._subscriptions or self._of_hosts)

    def _check(self, host: str, keys: Sequence[Key]) -> None:
        if self._of_hosts[host] >= MAX_STREAMS_OF_HOST:
            raise _full(HTTPStatus.TOO_MANY_REQUESTS)
        new = sum(key not in self._subscriptions for key in keys)
        is_full = new and len(self._subscriptions) + new > MAX_SUBSCRIPTIONS
        if is_full or len(self._watchers) >= MAX_STREAMS or self._closing.is_set():
            raise _full(HTTPStatus.SERVICE_UNAVAILABLE)

    def _enter(self, watcher: Watcher, host: str) -> None:
        self._watchers.add(watcher)
        self._of_hosts[host] += 1
        if self._sweeping is None:
            self._sweeping = asyncio.create_task(self._sweep())

    def _leave(self, watcher: Watcher, host: str) -> None:
        self._watchers.discard(watcher)
        self._of_hosts[host] -= 1
        if not self._of_hosts[host]:
            del self._of_hosts[host]
        if not self._watchers and self._sweeping is not None:
            self._sweeping.cancel()
            self._sweeping = None

    def _subscribe(self, key: Key, watcher: Watcher) -> Subscription:
        topic, token, delay = key
        subscription = self._subscriptions.get(key)
        if subscription is None:
            subscription = Subscription(self._gateway, topic, self._names, token=token, delay=delay)
            self._subscriptions[key] = subscription
        subscription.watchers.add(watcher)
        return subscription

    async def _unsubscribe(self, keys: Sequence[Key], watcher: Watcher) -> None:
        ended = []
        for key in keys:
            subscription = self._subscriptions.get(key)
            if subscription is not None:
                subscription.watchers.discard(watcher)
                if not subscription.watchers:
                    ended.append(self._subscriptions.pop(key))
        for subscription in ended:
            await subscription.close()

    async def _sweep(self) -> None:
        """Cut who reads nothing, give signs of life, and end all streams when the site stops."""
        beats = 0.0
        while True:
            try:
                async with asyncio.timeout(SWEEP_INTERVAL.total_seconds()):
                    await self._closing.wait()
            except TimeoutError:
                beats += SWEEP_INTERVAL.total_seconds()
            self._cut_stopped()
            if self._closing.is_set():
                await tell_each(self._watchers, Watcher.leave)
                return
            if beats >= BEAT_INTERVAL.total_seconds():
                beats = 0.0
                await tell_each(self._watchers, Watcher.beat)

    def _cut_stopped(self) -> None:
        limit = asyncio.get_running_loop().time() - WRITE_TIMEOUT.total_seconds()
        for watcher in list(self._watchers):
            if watcher.writing_since is not None and watcher.writing_since < limit:
                watcher.cut()


def _full(status: HTTPStatus) -> Refusal:
    return Refusal(status, text("live.full"), retry_after=COME_BACK)

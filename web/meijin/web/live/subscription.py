"""The subscription of a topic: one watch of the arena, for all browsers that look at it."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from datetime import timedelta

import grpc
from grpc.aio import AioRpcError

from meijin.v1.game_service_pb2 import WatchArenaResponse
from meijin.web.gateway import DisplayNames, Gateway, Services, Visitor
from meijin.web.live.cell import Cell, event
from meijin.web.live.delay import DelayLine, held_back
from meijin.web.live.topics import Topic
from meijin.web.live.watcher import Watcher, tell_each
from meijin.web.refusals import refusal_of

log = logging.getLogger(__name__)

RETRY = timedelta(seconds=3)
"""Between two tries to watch, when a server that is elsewhere does not answer."""

LASTING = frozenset(
    {
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.UNIMPLEMENTED,
    }
)
"""Refusals that come again, however often one asks."""


def now_ms() -> int:
    """Now, by the clock of the frames: milliseconds, which mean something only to each other."""
    return time.monotonic_ns() // 1_000_000


class Subscription:
    """A topic that is being watched: begins with its first watcher, and ends with the last."""

    def __init__(
        self,
        gateway: Gateway,
        topic: Topic,
        names: DisplayNames,
        *,
        token: str,
        delay: timedelta,
    ) -> None:
        self.cell = Cell(topic.name, names.shown)
        self._names = names
        self.watchers: set[Watcher] = set()
        self._topic = topic
        self._services = Services(gateway.channel(Visitor("", token)))
        self._delay = delay
        self._running = asyncio.create_task(self._run())

    async def close(self) -> None:
        self._running.cancel()
        await asyncio.gather(self._running, return_exceptions=True)

    async def _run(self) -> None:
        """Watch until the game is over, or the server refuses for good."""
        while self.cell.farewell is None:
            try:
                async with aclosing(self._messages()) as messages:
                    await self._take_all(messages)
                self.cell.farewell = event("over", {"topic": self._topic.name})
            except AioRpcError as error:
                if error.code() in LASTING:
                    message = str(refusal_of(error))
                    self.cell.farewell = event(
                        "refused", {"topic": self._topic.name, "why": message}
                    )
                else:
                    log.info("live boards wait for the server: %s", error.details())
                    await asyncio.sleep(RETRY.total_seconds())
        await tell_each(self.watchers, Watcher.wake)

    async def _take_all(self, messages: AsyncIterator[WatchArenaResponse]) -> None:
        look: list[WatchArenaResponse] = []
        is_first = True
        async for message in messages:
            look.append(message)
            if not message.more:
                if any(update.HasField("game") for part in look for update in part.games):
                    await self._names.look(self._services)
                version = self.cell.version
                self.cell.take(look, now_ms(), is_first=is_first)
                is_first = False
                look.clear()
                if self.cell.version > version:
                    await tell_each(self.watchers, lambda watcher: watcher.take(self.cell))

    async def _messages(self) -> AsyncGenerator[WatchArenaResponse]:
        """What the server tells, held back by the delay."""
        call = self._services.games.WatchArena(self._topic.request(self._delay))
        try:
            if not self._delay:
                async for message in call:
                    yield message
                return
            async with aclosing(held_back(call, DelayLine(self._delay))) as late:
                async for message in late:
                    yield message
        finally:
            call.cancel()

"""A watcher: one browser's stream, which takes the newest state when its socket takes it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from starlette.types import Send

from meijin.web.live.cell import Cell

BEAT = b":\n\n"
"""A comment, by which both ends notice that the other is there."""


@dataclass(frozen=True, slots=True)
class Change:
    """What leads from one version of a topic to the next."""

    version: int
    """The one that it leads to."""
    chunk: bytes
    """As it goes over a connection: a chunk of HTTP/1.1, made once for all who watch."""


class Followed(Protocol):
    """A topic, as far as its watchers know it."""

    cell: Cell
    farewell: bytes | None
    """What they are told when there will be nothing more; ``None`` until then."""


class Watcher:
    """One browser that watches topics. Nothing waits for it: what it has missed is replaced.

    A change is written straight to its transport where that holds nothing, which costs half of
    what waking the task of the answer does. Everything else is written by the task.
    """

    __slots__ = (
        "_is_beat_due",
        "_seen",
        "_send",
        "_transport",
        "_woken",
        "has_left",
        "writing_since",
    )

    def __init__(self, send: Send, transport: asyncio.Transport | None) -> None:
        """`transport` is that of its connection, where there is one."""
        self.has_left = False
        self.writing_since: float | None = None
        """Since when a frame waits for its socket, by the event loop's clock."""
        self._send = send
        self._transport = transport
        self._woken = asyncio.Event()
        self._is_beat_due = False
        self._seen: dict[Followed, int] = {}

    def take(self, followed: Followed, change: Change) -> None:
        """Write a change at once, if it is the next and the socket has taken all before."""
        transport = self._transport
        is_next = self._seen.get(followed, 0) == change.version - 1 > 0
        if transport is None or not is_next or transport.get_write_buffer_size():
            self._woken.set()
        elif not transport.is_closing():
            self._seen[followed] = change.version
            transport.write(change.chunk)

    def wake(self) -> None:
        """There may be something to write, or nothing more will come."""
        self._woken.set()

    def beat(self) -> None:
        """A sign of life is due."""
        self._is_beat_due = True
        self._woken.set()

    def leave(self) -> None:
        """Its browser has gone, or is to go."""
        self.has_left = True
        self._woken.set()

    def cut(self) -> None:
        """Give up on a browser that reads nothing."""
        self.leave()
        if self._transport is not None:
            self._transport.abort()

    async def write(self, frame: bytes) -> None:
        """Write a frame, once the socket has taken the one before."""
        self.writing_since = asyncio.get_running_loop().time()
        await self._send({"type": "http.response.body", "body": frame, "more_body": True})
        self.writing_since = None

    async def follow(self, subscriptions: Sequence[Followed]) -> None:
        """Write what is new in the topics, until the browser leaves or nothing more will come."""
        seen = self._seen = dict.fromkeys(subscriptions, 0)
        while not self.has_left and seen:
            self._woken.clear()
            for subscription in list(seen):
                cell = subscription.cell
                frame = cell.since(seen[subscription])
                if frame is not None:
                    seen[subscription] = cell.version
                    await self.write(frame)
                elif subscription.farewell is not None:
                    del seen[subscription]
                    await self.write(subscription.farewell)
            if self._is_beat_due:
                self._is_beat_due = False
                await self.write(BEAT)
            if seen:
                await self._woken.wait()

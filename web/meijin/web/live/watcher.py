"""A watcher: one browser's stream, which takes the newest state when its socket takes it."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from starlette.types import Send

from meijin.web.live.cell import Cell

TOLD_AT_ONCE = 40
"""Watchers that are told in a turn of the event loop: half a millisecond of it."""

BEAT = b":\n\n"
"""A comment, by which both ends notice that the other is there."""


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
        self._seen: dict[Cell, int] = {}

    def take(self, cell: Cell) -> None:
        """Write the newest change at once, if it is the next and the socket has taken all before."""
        transport = self._transport
        is_next = self._seen.get(cell, 0) == cell.version - 1 > 0
        if transport is None or not is_next or transport.get_write_buffer_size():
            self._woken.set()
        elif not transport.is_closing():
            self._seen[cell] = cell.version
            transport.write(cell.chunk)

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

    async def follow(self, cells: Sequence[Cell]) -> None:
        """Write what is new in the topics, until the browser leaves or nothing more will come."""
        seen = self._seen = dict.fromkeys(cells, 0)
        while not self.has_left and seen:
            self._woken.clear()
            for cell in list(seen):
                frame = cell.since(seen[cell])
                if frame is not None:
                    seen[cell] = cell.version
                    await self.write(frame)
                elif cell.farewell is not None:
                    del seen[cell]
                    await self.write(cell.farewell)
            if self._is_beat_due:
                self._is_beat_due = False
                await self.write(BEAT)
            if seen:
                await self._woken.wait()


async def tell_each(watchers: Iterable[Watcher], tell: Callable[[Watcher], None]) -> None:
    """Tell watchers something, a few in each turn of the event loop."""
    left = iter(list(watchers))
    while part := list(islice(left, TOLD_AT_ONCE)):
        for watcher in part:
            tell(watcher)
        await asyncio.sleep(0)

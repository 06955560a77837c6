"""What a server sends to the ladders' worker."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from meijin.server.tournaments.refresh_jobs import RefreshSender
from meijin.store.schema import LadderId
from meijin.testing.server import until


class StubQueue:
    """A queue that keeps what it is given."""

    def __init__(self, _url: str) -> None:
        self.ladders: list[LadderId] = []
        self.is_closed = False

    def enqueue(self, ladder_id: LadderId) -> bool:
        """Keep it."""
        self.ladders.append(ladder_id)
        return True

    def length(self) -> int:
        """How many it has been given."""
        return len(self.ladders)

    def close(self) -> None:
        """Note that it is closed."""
        self.is_closed = True


async def test_a_sender_closes_its_queue() -> None:
    """When it is stopped, having sent one job for each ladder."""
    queue = StubQueue("unix:///nowhere.sock")
    sender = RefreshSender("unix:///nowhere.sock", cast("Any", lambda _url: queue))
    for ladder in (2, 1, 2):
        sender.ladder_changed(LadderId(ladder))
    task = asyncio.create_task(sender.run())
    await until(lambda: len(queue.ladders) >= 2)
    assert queue.ladders == [1, 2]
    assert not queue.is_closed
    task.cancel()
    await asyncio.wait([task])
    assert queue.is_closed


async def test_a_length_that_is_asked_for_at_the_start_waits_for_the_queue() -> None:
    """A server that has just started does not say that Redis is away."""
    queue = StubQueue("unix:///nowhere.sock")
    sender = RefreshSender("unix:///nowhere.sock", cast("Any", lambda _url: queue))
    asked = asyncio.create_task(sender.queue_length())
    await asyncio.sleep(0)
    task = asyncio.create_task(sender.run())
    assert await asked == 0
    task.cancel()
    await asyncio.wait([task])

"""What a server sends to the ladders' worker."""

from __future__ import annotations

import asyncio

import pytest

from meijin.server.tournaments import refresh_jobs
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

    def close(self) -> None:
        """Note that it is closed."""
        self.is_closed = True


async def test_a_sender_closes_its_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    """When it is stopped, having sent one job for each ladder."""
    monkeypatch.setattr(refresh_jobs, "RefreshQueue", StubQueue)
    sender = RefreshSender("unix:///nowhere.sock")
    queue = sender._queue
    assert isinstance(queue, StubQueue)
    for ladder in (2, 1, 2):
        sender.ladder_changed(LadderId(ladder))
    task = asyncio.create_task(sender.run())
    await until(lambda: len(queue.ladders) >= 2)
    assert queue.ladders == [1, 2]
    assert not queue.is_closed
    task.cancel()
    await asyncio.wait([task])
    assert queue.is_closed

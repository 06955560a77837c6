"""What a server sends to the ladders' worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast
from unittest.mock import Mock

from tests.server_in_test import until

from meijin.ladder.refresh_queue import RefreshQueue
from meijin.server.tournaments.refresh_jobs import RefreshSender
from meijin.store.schema import LadderId


@asynccontextmanager
async def running(sender: RefreshSender) -> AsyncIterator[None]:
    task = asyncio.create_task(sender.run())
    yield
    task.cancel()
    await asyncio.wait([task])


def make(queue: Mock) -> RefreshSender:
    return RefreshSender("unix:///nowhere.sock", lambda _url: cast("RefreshQueue", queue))


async def test_a_sender_closes_its_queue() -> None:
    """When it is stopped, having sent one job for each ladder."""
    queue = Mock(spec=RefreshQueue)
    sender = make(queue)
    for ladder in (2, 1, 2):
        sender.send(LadderId(ladder))
    async with running(sender):
        await until(lambda: queue.enqueue.call_count >= 2)
        assert [call.args for call in queue.enqueue.call_args_list] == [(1,), (2,)]
        queue.close.assert_not_called()
    queue.close.assert_called_once_with()


async def test_a_length_that_is_asked_for_at_the_start_waits_for_the_queue() -> None:
    """A server that has just started does not say that Redis is away."""
    sender = make(Mock(spec=RefreshQueue, **{"length.return_value": 7}))
    asked = asyncio.create_task(sender.queue_length())
    await asyncio.sleep(0)
    async with running(sender):
        assert await asked == 7

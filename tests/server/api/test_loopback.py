"""The loopback stream of a server, over its real socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

from meijin.server.api import loopback
from meijin.server.api.loopback import Loopback
from meijin.server.match.stalls import NEVER_NS, StallWatch
from meijin.testing.server import until


class CountingWatch(StallWatch):
    """Counts what it hears."""

    def __init__(self) -> None:
        super().__init__()
        self.received = 0

    def receive_probe(self) -> None:
        """Count one more."""
        super().receive_probe()
        self.received += 1


async def test_probes_come_back_while_they_are_needed() -> None:
    """By a stream to this very process; a server without games sends none."""
    watch, is_needed = CountingWatch(), False
    task = asyncio.create_task(Loopback(watch, lambda: is_needed).run())
    await asyncio.sleep(5 * loopback.PROBE_INTERVAL.total_seconds())
    assert watch.carried_ns == NEVER_NS
    is_needed = True
    await until(lambda: watch.received >= 3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert watch.carried_ns == NEVER_NS


async def test_a_stream_that_breaks_is_opened_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was on its way is given up meanwhile."""
    watch, broken = CountingWatch(), 0
    stream = loopback._stream

    class Broken:
        async def write(self, _: bytes) -> None:
            nonlocal broken
            broken += 1
            raise OSError("no more descriptors")

    @asynccontextmanager
    async def first_broken() -> AsyncIterator[Any]:
        if broken < 2:
            yield Broken()
        else:
            async with stream() as call:
                yield call

    monkeypatch.setattr(loopback, "_stream", first_broken)
    monkeypatch.setattr(loopback, "RETRY_INTERVAL", timedelta(milliseconds=1))
    task = asyncio.create_task(Loopback(watch, lambda: True).run())
    await until(lambda: watch.received >= 1)
    assert broken == 2
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

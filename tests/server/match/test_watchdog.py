"""What the watchdog does to all streams, it does in portions."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from meijin.server.errors import NotReadingError
from meijin.server.match import watchdog
from meijin.server.match.arbiter.stalls import NS_PER_SECOND, StallWatch
from meijin.server.match.live.session import Session
from meijin.server.match.watchdog import PING_INTERVAL, PORTIONS, Watchdog


class Stream:
    """A stream, as far as the watchdog looks at it."""

    def __init__(self) -> None:
        self.closed: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self.writing_since_ns: int | None = None

    def close(self, reason: object) -> None:
        """End it."""
        self.closed.set_result(reason)


class Clock:
    """Time that passes while the watchdog sleeps, for an interval."""

    def __init__(self, streams: int) -> None:
        self.now = 0.0
        self.streams = [Stream() for _ in range(streams)]
        self.pinged: Counter[Stream] = Counter()
        self.pinged_at_once: list[int] = []
        self._end = 0.0
        lobby = SimpleNamespace(sessions=self.streams)
        none: Any = None
        self.watchdog = Watchdog(
            StallWatch(lambda: round(self.now * NS_PER_SECOND)),
            cast("Any", lobby),
            *(none, none, none),
            write_timeout=timedelta(seconds=10),
            sleep=self._sleep,
        )

    async def _sleep(self, seconds: float) -> None:
        self.pinged_at_once.append(0)
        self.now += seconds
        if self.now > self._end:
            raise asyncio.CancelledError

    def ping(self, stream: Stream) -> None:
        """Take a ping."""
        self.pinged[stream] += 1
        self.pinged_at_once[-1] += 1

    async def run(self, task: Any, seconds: float) -> None:
        """Run one of the watchdog's tasks for some seconds."""
        self._end = self.now + seconds
        with pytest.raises(asyncio.CancelledError):
            await task


@pytest.mark.parametrize("streams", [0, 1, 7, 100, 101, 10_000])
async def test_pings_are_spread_over_the_interval(
    monkeypatch: pytest.MonkeyPatch, streams: int
) -> None:
    """Each stream is pinged once in it, and few of them at once."""
    clock = Clock(streams)
    monkeypatch.setattr(Session, "ping", clock.ping)
    await clock.run(clock.watchdog.measure_lag(), 3.01 * PING_INTERVAL.total_seconds())
    assert set(clock.pinged.values()) <= {3}
    assert len(clock.pinged) == streams
    assert max(clock.pinged_at_once) <= -(-streams // PORTIONS)


async def test_a_stream_that_is_closed_is_not_pinged(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have been open when the interval began."""
    clock = Clock(2)
    clock.streams[0].close("gone")
    monkeypatch.setattr(Session, "ping", clock.ping)
    await clock.run(clock.watchdog.measure_lag(), 1.01 * PING_INTERVAL.total_seconds())
    assert list(clock.pinged) == clock.streams[1:]


async def test_slow_consumers_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those whose write has taken longer than a peer has to read, and no others."""
    monkeypatch.setattr(watchdog, "PORTIONS", 2)
    clock = Clock(5)
    stuck, busy, *_ = clock.streams
    stuck.writing_since_ns = 0
    await clock.run(clock.watchdog.drop_stalled_streams(), 9.9)
    assert not any(stream.closed.done() for stream in clock.streams)
    busy.writing_since_ns = round(clock.now * NS_PER_SECOND)
    await clock.run(clock.watchdog.drop_stalled_streams(), 4.0)
    assert isinstance(stuck.closed.result(), NotReadingError)
    assert not any(stream.closed.done() for stream in clock.streams[1:])

"""What the watchdog does to all streams, it does in portions."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from meijin.game.arbiter.moment import NS_PER_SECOND
from meijin.server.errors import NotReadingError
from meijin.server.match.live.session import Session
from meijin.server.match.presence import watchdog
from meijin.server.match.presence.watchdog import PING_INTERVAL, PORTIONS, Watchdog
from meijin.server.match.stalls import StallWatch

none: Any = None


class Stream:
    """A stream, as far as the watchdog looks at it."""

    def __init__(self) -> None:
        self.closed: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self.close = self.closed.set_result
        self.writing_since_ns: int | None = None


class Dog(Watchdog):
    """A watchdog of some streams, whose time passes while it sleeps."""

    def __init__(self, streams: int) -> None:
        self.now = self._end = 0.0
        self.streams = [Stream() for _ in range(streams)]
        self.pinged: Counter[Stream] = Counter()
        self.pinged_at_once: list[int] = []
        lobby: Any = SimpleNamespace(sessions=self.streams)
        stalls = StallWatch(lambda: round(self.now * NS_PER_SECOND))
        ten_seconds = timedelta(seconds=10)
        super().__init__(
            stalls, lobby, none, none, none, write_timeout=ten_seconds, sleep=self._pass_time
        )

    async def _pass_time(self, seconds: float) -> None:
        self.pinged_at_once.append(0)
        self.now += seconds
        if self.now > self._end:
            raise asyncio.CancelledError

    def ping(self, stream: Stream) -> None:
        self.pinged[stream] += 1
        self.pinged_at_once[-1] += 1

    async def run(self, task: Any, seconds: float) -> None:
        self._end = self.now + seconds
        with pytest.raises(asyncio.CancelledError):
            await task


@pytest.mark.parametrize("streams", [0, 1, 7, 100, 101, 10_000])
async def test_pings_are_spread_over_the_interval(
    monkeypatch: pytest.MonkeyPatch, streams: int
) -> None:
    """Each stream is pinged once in it, and few of them at once; one that is closed is not."""
    dog = Dog(streams)
    monkeypatch.setattr(Session, "ping", dog.ping)
    for stream in dog.streams[:1]:
        stream.close("gone")
    await dog.run(dog.measure_lag(), 3.01 * PING_INTERVAL.total_seconds())
    assert dog.pinged == dict.fromkeys(dog.streams[1:], 3)
    assert max(dog.pinged_at_once) <= -(-streams // PORTIONS)


async def test_slow_consumers_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those whose write has taken longer than a peer has to read, and no others."""
    monkeypatch.setattr(watchdog, "PORTIONS", 2)
    dog = Dog(5)
    stuck, busy, *_ = dog.streams
    stuck.writing_since_ns = 0
    await dog.run(dog.drop_stalled_streams(), 9.9)
    assert not any(stream.closed.done() for stream in dog.streams)
    busy.writing_since_ns = round(dog.now * NS_PER_SECOND)
    await dog.run(dog.drop_stalled_streams(), 4.0)
    assert isinstance(stuck.closed.result(), NotReadingError)
    assert not any(stream.closed.done() for stream in dog.streams[1:])

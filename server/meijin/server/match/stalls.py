"""The server's time: a monotonic clock, and how long the server itself stood still."""

from collections.abc import Callable
from datetime import timedelta
from time import monotonic_ns
from typing import NamedTuple

from meijin.server.match.rolling import RollingTotal

NS_PER_SECOND = 1_000_000_000

TICK_INTERVAL_NS = 10_000_000
"""Between two ticks. A shorter stall is seen only by the part of it that is left when one is due;
a tick costs 15 microseconds, so a shorter interval would cost an idle server more than 0.2 %."""

TIMER_RESOLUTION_NS = 1_000_000
"""The event loop's timers wait for whole milliseconds: a tick that is no later is on time."""


def nanoseconds(duration: timedelta) -> int:
    """A duration as the match counts it, exact to the microsecond."""
    return duration // timedelta(microseconds=1) * 1000


MINUTES_KEPT = 60
"""Stalls are told of so many minutes."""


class Moment(NamedTuple):
    """An instant as the server knows it. A plain tuple: one is made for every message."""

    now_ns: int
    """Of a monotonic clock."""
    stall_ns: int
    """How long the server itself has stood still so far, as of `now_ns`."""

    @property
    def served_ns(self) -> int:
        """The instant on a clock that stands whenever the server does."""
        return self.now_ns - self.stall_ns


class StallWatch:
    """Counts the time in which the server could not have read an answer.

    A tick is due every `TICK_INTERVAL_NS`. All that it is late by, whether by a burst of
    messages, a page fault or a stopped process, is nobody's thinking time.
    """

    def __init__(self, clock: Callable[[], int] = monotonic_ns) -> None:
        self._clock = clock
        self._last_ns = clock()
        self._total_ns = 0
        self.recent = RollingTotal(MINUTES_KEPT)
        """The stalls that were added for good."""

    def moment(self) -> Moment:
        """Now, with a stall that is still going on counted in."""
        now_ns = self._clock()
        late_ns = now_ns - self._last_ns - TICK_INTERVAL_NS
        stall_ns = self._total_ns + late_ns if late_ns > TIMER_RESOLUTION_NS else self._total_ns
        return Moment(now_ns, stall_ns)

    def tick(self) -> Moment:
        """Now, with the stall since the last tick added for good."""
        moment = self.moment()
        if moment.stall_ns > self._total_ns:
            self.recent.add(moment.stall_ns - self._total_ns, moment.now_ns)
        self._last_ns, self._total_ns = moment
        return moment

"""The server's time: a monotonic clock, and how long the server itself stood still."""

from collections.abc import Callable
from time import monotonic_ns
from typing import NamedTuple

TICK_INTERVAL_NS = 20_000_000
"""Between two ticks."""

STALL_TOLERANCE_NS = 50_000_000
"""A tick that is later than this means that the server stood still."""


class Moment(NamedTuple):
    """An instant as the server knows it. A plain tuple: one is made for every message."""

    now_ns: int
    """Of a monotonic clock."""
    stall_ns: int
    """How long the server itself has stood still so far, as of `now_ns`."""

    @property
    def running_ns(self) -> int:
        """How long the server has run, its stalls left out: what absences are measured by."""
        return self.now_ns - self.stall_ns


class StallWatch:
    """Counts the time in which the server could not have read an answer.

    A tick is due every `TICK_INTERVAL_NS`. What it is late by, a page fault, a stopped
    process or a slow disk, is nobody's thinking time.
    """

    def __init__(self, clock: Callable[[], int] = monotonic_ns) -> None:
        self._clock = clock
        self._last_ns = clock()
        self._total_ns = 0

    def moment(self) -> Moment:
        """Now, with a stall that is still going on counted in."""
        now_ns = self._clock()
        late_ns = now_ns - self._last_ns - TICK_INTERVAL_NS
        stall_ns = self._total_ns + late_ns if late_ns > STALL_TOLERANCE_NS else self._total_ns
        return Moment(now_ns, stall_ns)

    def tick(self) -> Moment:
        """Now, with the stall since the last tick added for good."""
        moment = self.moment()
        self._last_ns, self._total_ns = moment
        return moment

"""The server's time: a monotonic clock, and how long the server itself stood still."""

from collections.abc import Callable
from time import monotonic_ns
from typing import NamedTuple

INTERVAL = 20_000_000
"""Nanoseconds between two ticks."""

TOLERANCE = 50_000_000
"""A tick that is later than this, in nanoseconds, means that the server stood still."""


class Moment(NamedTuple):
    """An instant as the server knows it. A plain tuple: one is made for every message."""

    now: int
    """Nanoseconds of a monotonic clock."""
    stall: int
    """Nanoseconds that the server itself has stood still so far, as of `now`."""


class StallWatch:
    """Counts the time in which the server could not have read an answer.

    A tick is due every `INTERVAL`. What it is late by, a page fault, a stopped
    process or a slow disk, is nobody's thinking time.
    """

    def __init__(self, clock: Callable[[], int] = monotonic_ns) -> None:
        self._clock = clock
        self._last = clock()
        self._total = 0

    def moment(self) -> Moment:
        """Now, with a stall that is still going on counted in."""
        now = self._clock()
        late = now - self._last - INTERVAL
        return Moment(now, self._total + late if late > TOLERANCE else self._total)

    def tick(self) -> Moment:
        """Now, with the stall since the last tick added for good."""
        moment = self.moment()
        self._last, self._total = moment
        return moment

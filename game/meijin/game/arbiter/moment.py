"""Instants: a monotonic clock, and how long whoever judges stood still himself."""

from datetime import timedelta
from typing import NamedTuple

NS_PER_SECOND = 1_000_000_000

NEVER_NS = 1 << 62


def nanoseconds(duration: timedelta) -> int:
    """A duration as the match counts it, exact to the microsecond."""
    return duration // timedelta(microseconds=1) * 1000


class Moment(NamedTuple):
    """An instant as whoever judges knows it: the server, or a worker. A plain tuple: one is made for every message."""

    now_ns: int
    """Of a monotonic clock."""
    stall_ns: int
    """How long that one has stood still so far, as of `now_ns`."""

    @property
    def served_ns(self) -> int:
        """The instant on a clock that stands whenever that one does."""
        return self.now_ns - self.stall_ns

"""The server's time: a monotonic clock, and how long the server itself stood still."""

from collections.abc import Callable
from datetime import timedelta
from time import monotonic_ns, process_time_ns, thread_time_ns
from typing import NamedTuple

from prometheus_client import Histogram

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


class CpuTime(NamedTuple):
    """Processor time that has been used so far."""

    loop_ns: int
    """By the event loop's thread."""
    process_ns: int
    """By all threads of the server."""


def cpu_time() -> CpuTime:
    """What this thread, the event loop's, and its process have used: 0.6 microseconds to ask."""
    return CpuTime(thread_time_ns(), process_time_ns())


class Stall(NamedTuple):
    """One stall, and how much of it the server itself was at work."""

    wall_ns: int
    """How long it was."""
    loop_ns: int
    """The most that the event loop can have worked in it. One that the machine has made, by
    other programs or by stopping the process, has less of it than of `wall_ns`."""
    process_ns: int
    """The most that all threads together can have: a long call of another thread that keeps the
    interpreter to itself is here, and not in `loop_ns`."""


class RecentStalls:
    """The stalls of the last hour, and all of them in a histogram."""

    def __init__(self) -> None:
        self.wall, self.loop, self.process = (RollingTotal(MINUTES_KEPT) for _ in Stall._fields)
        self.seconds = Histogram(
            "meijin_event_loop_stalls_seconds",
            "Stalls of the event loop, by the clock and by the processor time meanwhile.",
            labelnames=("time",),
            buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5),
            registry=None,
        )
        """For the metrics; `time` is ``wall``, ``loop`` or ``process``, as in a `Stall`."""
        self._observe = [self.seconds.labels(time).observe for time in ("wall", "loop", "process")]

    def add(self, stall: Stall, now_ns: int) -> None:
        """Add one that has just ended."""
        for total, observe, ns in zip(
            (self.wall, self.loop, self.process), self._observe, stall, strict=True
        ):
            total.add(ns, now_ns)
            observe(ns / NS_PER_SECOND)


class StallWatch:
    """Counts the time in which the server could not have read an answer.

    A tick is due every `TICK_INTERVAL_NS`. All that it is late by, whether by a burst of
    messages, a page fault or a stopped process, is nobody's thinking time.
    """

    def __init__(
        self,
        clock: Callable[[], int] = monotonic_ns,
        cpu_clock: Callable[[], CpuTime] = cpu_time,
    ) -> None:
        self._clock = clock
        self._cpu_clock = cpu_clock
        self._last_ns = clock()
        self._last_cpu = cpu_clock()
        self._total_ns = 0
        self.recent = RecentStalls()
        """The stalls that were added for good."""

    def moment(self) -> Moment:
        """Now, with a stall that is still going on counted in."""
        now_ns = self._clock()
        late_ns = now_ns - self._last_ns - TICK_INTERVAL_NS
        stall_ns = self._total_ns + late_ns if late_ns > TIMER_RESOLUTION_NS else self._total_ns
        return Moment(now_ns, stall_ns)

    def tick(self) -> Moment:
        """Now, with the stall since the last tick added for good."""
        moment, cpu = self.moment(), self._cpu_clock()
        if (wall_ns := moment.stall_ns - self._total_ns) > 0:
            last = self._last_cpu
            loop_ns = min(wall_ns, cpu.loop_ns - last.loop_ns)
            process_ns = max(loop_ns, min(wall_ns, cpu.process_ns - last.process_ns))
            self.recent.add(Stall(wall_ns, loop_ns, process_ns), moment.now_ns)
        self._last_cpu = cpu
        self._last_ns, self._total_ns = moment
        return moment

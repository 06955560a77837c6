"""The server's time: a monotonic clock, and how long the server itself stood still."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic_ns, process_time_ns, thread_time_ns
from typing import NamedTuple

from prometheus_client import Histogram

from meijin.game.arbiter.moment import NEVER_NS, NS_PER_SECOND, Moment

NS_PER_MINUTE = 60_000_000_000


@dataclass(slots=True)
class _Bucket:
    minute: int
    total: int = 0
    largest: int = 0


class RollingTotal:
    """Adds up amounts of the last `minutes`, to a minute; it is as large whatever comes."""

    def __init__(self, minutes: int) -> None:
        self._buckets: deque[_Bucket] = deque(maxlen=minutes)

    def add(self, amount: int, now_ns: int) -> None:
        minute = now_ns // NS_PER_MINUTE
        if not self._buckets or self._buckets[-1].minute != minute:
            self._buckets.append(_Bucket(minute))
        bucket = self._buckets[-1]
        bucket.total += amount
        bucket.largest = max(bucket.largest, amount)

    def total(self, minutes: int, now_ns: int) -> int:
        return sum(bucket.total for bucket in self._since(minutes, now_ns))

    def largest(self, minutes: int, now_ns: int) -> int:
        """The largest amount that has come in the last N minutes; 0 for none."""
        return max((bucket.largest for bucket in self._since(minutes, now_ns)), default=0)

    def _since(self, minutes: int, now_ns: int) -> list[_Bucket]:
        first = now_ns // NS_PER_MINUTE - minutes
        return [bucket for bucket in self._buckets if bucket.minute > first]


TICK_INTERVAL_NS = 10_000_000
"""Between two ticks. A shorter stall is seen only by the part of it that is left when one is due;
a tick costs 15 microseconds, so a shorter interval would cost an idle server more than 0.2 %."""

IDLE_INTERVAL_NS = 500_000_000
"""The same while nobody is connected: a hundred ticks a second take 1.5 % of a core, which a worker's
engines beside the server have better use for."""

TIMER_RESOLUTION_NS = 1_000_000
"""The event loop's timers wait for whole milliseconds: a tick that is no later is on time."""


PROBE_TOLERANCE_NS = 20_000_000
"""A probe that takes so much longer than it did lately is late."""

PROBE_SAMPLES = 8
"""Its usual time is the least of this many: what is late now and then is not what is usual."""

LONGEST_USUAL_NS = 50_000_000
"""More is never usual, however long a storm lasts."""

MINUTES_KEPT = 60
"""Stalls are told of this many minutes."""


class CpuTime(NamedTuple):
    loop_ns: int
    """By the event loop's thread."""
    process_ns: int
    """By all threads of the server."""


def cpu_time() -> CpuTime:
    """What this thread, the event loop's, and its process have used: 0.6 microseconds to ask."""
    return CpuTime(thread_time_ns(), process_time_ns())


class RecentStalls:
    """The stalls of the last hour, and all of them in a histogram.

    By the clock (wall), and the most that the event loop and all threads together can have worked
    meanwhile. A stall that the machine has made, by other programs or by stopping the process, has
    less of the loop's work than of the clock; a long call of another thread that keeps the
    interpreter to itself is in the process's alone.
    """

    def __init__(self) -> None:
        self.wall, self.loop, self.process = (RollingTotal(MINUTES_KEPT) for _ in range(3))
        self.seconds = Histogram(
            "meijin_event_loop_stalls_seconds",
            "Stalls of the event loop, by the clock and by the processor time meanwhile.",
            labelnames=("time",),
            buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5),
            registry=None,
        )
        """For the metrics; `time` is ``wall``, ``loop`` or ``process``."""
        times = ("wall", "loop", "process")
        self._adders = [(getattr(self, time), self.seconds.labels(time)) for time in times]

    def add(self, wall_ns: int, loop_ns: int, process_ns: int, *, now_ns: int) -> None:
        for (total, observer), ns in zip(self._adders, (wall_ns, loop_ns, process_ns), strict=True):
            total.add(ns, now_ns)
            observer.observe(ns / NS_PER_SECOND)


class StallWatch:
    """Counts the time in which the server could not have read an answer.

    A tick of the event loop is due every `TICK_INTERVAL_NS` while somebody is there, and a probe of
    the threads that serve streams comes back in about the time that it took lately. All that either
    is late by, whether by a burst of messages, a page fault, a stopped process or thousands of new
    connections, is nobody's thinking time. Where both are late it is counted once.
    """

    def __init__(
        self,
        clock: Callable[[], int] = monotonic_ns,
        cpu_clock: Callable[[], CpuTime] = cpu_time,
    ) -> None:
        self._clock = clock
        self._cpu_clock = cpu_clock
        self._tick_ns = clock()
        self._interval_ns = TICK_INTERVAL_NS  # between the last tick and the next
        self._cpu = cpu_clock()
        self._stood_until_ns = self._tick_ns
        self._since_ns: int | None = None
        """Since when it stands still; ``None`` where that is not known to be so."""
        self._cpu_before = self._cpu
        """Before it began to."""
        self._probe_ns: int | None = None
        """When the probe was sent that is on its way."""
        self._probe_due_ns = NEVER_NS
        self._round_trips_ns: list[int] = []
        self.send: Callable[[], None] | None = None
        """Sends a probe; ``None`` while there is no way for it."""
        self.counted_ns = 0
        """How long it has stood still, so far as that is over."""
        self.carried_ns = NEVER_NS
        """When the newest probe that came back was sent: what bots had sent by then is read. Never
        waited for while nobody probes."""
        self.recent = RecentStalls()
        """The stalls that are over."""

    def moment(self) -> Moment:
        """Now, with a stall that is still going on counted in."""
        now_ns = self._clock()
        if (
            self._since_ns is None
            and now_ns - self._tick_ns <= self._interval_ns + TIMER_RESOLUTION_NS
            and now_ns <= self._probe_due_ns
        ):
            return Moment(now_ns, self.counted_ns)
        return Moment(now_ns, self.counted_ns + now_ns - self._standing_since(now_ns))

    def tick(self) -> Moment:
        """Now, with the stall since the last tick counted for good, unless a probe is still late."""
        moment, cpu = self.moment(), self._cpu_clock()
        if moment.stall_ns > self.counted_ns:
            self._note_stall(moment, cpu)
        self._tick_ns, self._cpu = moment.now_ns, cpu
        return moment

    def rest(self) -> None:
        """Nobody is there: the next tick is due after `IDLE_INTERVAL_NS`."""
        self._interval_ns = IDLE_INTERVAL_NS

    def wake(self) -> None:
        """Somebody is there: from now on ticks are due as usual."""
        if self._interval_ns != TICK_INTERVAL_NS:
            self.tick()
            self._interval_ns = TICK_INTERVAL_NS

    def _standing_since(self, now_ns: int) -> int:
        """Since when nothing could have been read, at the latest now."""
        since_ns = now_ns if self._since_ns is None else self._since_ns
        due_ns = self._tick_ns + self._interval_ns
        if now_ns - due_ns > TIMER_RESOLUTION_NS:
            since_ns = min(since_ns, due_ns)
        return max(min(since_ns, self._probe_due_ns), self._stood_until_ns)

    def _note_stall(self, moment: Moment, cpu: CpuTime) -> None:
        if self._since_ns is None:
            self._since_ns = moment.now_ns - (moment.stall_ns - self.counted_ns)
            self._cpu_before = self._cpu
        if moment.now_ns <= self._probe_due_ns:
            self._end_stall(moment, cpu)

    def _end_stall(self, moment: Moment, cpu: CpuTime) -> None:
        wall_ns, before = moment.stall_ns - self.counted_ns, self._cpu_before
        loop_ns = min(wall_ns, cpu.loop_ns - before.loop_ns)
        process_ns = max(loop_ns, min(wall_ns, cpu.process_ns - before.process_ns))
        self.recent.add(wall_ns, loop_ns, process_ns, now_ns=moment.now_ns)
        self._since_ns = None
        self._stood_until_ns, self.counted_ns = moment

    # -- the probe ---------------------------------------------------------------

    def probe(self) -> None:
        """Send a probe, unless one is on its way."""
        if self.send is None or self._probe_ns is not None:
            return
        self._probe_ns = self._clock()
        usual_ns = min(self._round_trips_ns, default=0)
        self._probe_due_ns = self._probe_ns + min(usual_ns, LONGEST_USUAL_NS) + PROBE_TOLERANCE_NS
        self.carried_ns = min(self.carried_ns, self._probe_ns)
        self.send()

    def receive_probe(self) -> None:
        assert self._probe_ns is not None
        moment = self.moment()
        self._probe_due_ns = NEVER_NS
        if moment.stall_ns > self.counted_ns:
            self._note_stall(moment, self._cpu_clock())
        self.carried_ns = self._probe_ns
        self._round_trips_ns.append(moment.now_ns - self._probe_ns)
        del self._round_trips_ns[:-PROBE_SAMPLES]
        self._probe_ns = None

    def give_up_probe(self) -> None:
        """There is no way for probes: what was on its way is no sign of anything."""
        self.send = None
        self._probe_ns, self._probe_due_ns = None, NEVER_NS
        self.carried_ns = NEVER_NS

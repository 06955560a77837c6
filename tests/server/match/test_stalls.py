"""The server's time and its stalls."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.game.arbiter.moment import NEVER_NS
from meijin.server.match.stalls import (
    IDLE_INTERVAL_NS,
    LONGEST_USUAL_NS,
    NS_PER_MINUTE,
    PROBE_SAMPLES,
    PROBE_TOLERANCE_NS,
    TICK_INTERVAL_NS,
    TIMER_RESOLUTION_NS,
    CpuTime,
    RollingTotal,
    StallWatch,
    cpu_time,
)

MS = 1_000_000


class Watched:
    """A watch whose time, processor time and probes are the test's."""

    def __init__(self) -> None:
        self.now = 5_000 * MS
        self.loop = self.process = 1_000 * MS
        self.watch = StallWatch(lambda: self.now, lambda: CpuTime(self.loop, self.process))
        self.watch.send = lambda: None

    def late_tick(self, late_ns: int) -> int:
        self.now += TICK_INTERVAL_NS + late_ns
        return self.watch.tick().stall_ns

    def work(self, loop_ms: int, process_ms: int) -> None:
        self.loop += loop_ms * MS
        self.process += process_ms * MS

    def wait(self, ns: int) -> None:
        while ns > 0:
            step = min(ns, TICK_INTERVAL_NS)
            self.now += step
            self.watch.tick()
            ns -= step

    def probe(self, ns: int) -> int:
        """Have a probe come back after so long; what is counted then."""
        self.watch.probe()
        self.wait(ns)
        self.watch.receive_probe()
        return self.watch.counted_ns


@pytest.fixture
def watched() -> Watched:
    return Watched()


@pytest.fixture
def watch(watched: Watched) -> StallWatch:
    return watched.watch


@pytest.mark.parametrize(
    ("late_ns", "stalled_ns"),
    [
        ([0, TIMER_RESOLUTION_NS // 2, TIMER_RESOLUTION_NS], [0, 0, 0]),
        (
            [TIMER_RESOLUTION_NS + 1, 0, 3 * TIMER_RESOLUTION_NS],
            [TIMER_RESOLUTION_NS + 1, TIMER_RESOLUTION_NS + 1, 4 * TIMER_RESOLUTION_NS + 1],
        ),
        ([5 * MS] * 100, range(5 * MS, 505 * MS, 5 * MS)),
    ],
    ids=["the timers know no less", "a late tick stays counted", "however often it is late"],
)
def test_what_a_tick_is_late_by_is_a_stall(
    watched: Watched, late_ns: Sequence[int], stalled_ns: Sequence[int]
) -> None:
    """All of it; one that still goes on is not told of yet."""
    found = [watched.late_tick(late) for late in late_ns]
    assert found == [*stalled_ns]
    assert watched.watch.moment().served_ns == watched.now - found[-1]
    watched.now += TICK_INTERVAL_NS + 90 * MS
    recent = watched.watch.recent.wall
    assert recent.total(60, watched.now) == found[-1]
    assert recent.largest(60, watched.now) == (max(late_ns) if found[-1] else 0)


def test_a_stall_counts_from_the_moment_that_somebody_comes(
    watched: Watched, watch: StallWatch
) -> None:
    """Who comes while nobody is there finds ticks that are seldom, and from then on usual ones."""
    watch.rest()
    watched.now += IDLE_INTERVAL_NS - 1
    assert watch.moment().stall_ns == 0
    watch.wake()
    watched.now += TICK_INTERVAL_NS + 50 * MS
    assert watch.moment().stall_ns == 50 * MS
    watch.wake()
    assert watch.tick().stall_ns == 50 * MS


def test_a_stall_counts_while_it_lasts(watched: Watched, watch: StallWatch) -> None:
    """Answers that are read before the next tick are already credited; looking changes nothing."""
    watched.now += TICK_INTERVAL_NS + TIMER_RESOLUTION_NS
    assert watch.moment().stall_ns == 0
    watched.now += 1
    assert watch.moment() == watch.moment() == (watched.now, TIMER_RESOLUTION_NS + 1)
    watched.now += 10
    assert watch.tick().stall_ns == TIMER_RESOLUTION_NS + 11


def test_a_stall_tells_how_much_of_it_was_work(watched: Watched) -> None:
    """A stopped process does none; other threads' work is told by itself, and no more than it all."""
    for wall_ms, loop_ms, process_ms in ((30, 4, 5), (8, 1, 25), (2, 9, 9)):
        watched.work(loop_ms, process_ms)
        watched.late_tick(wall_ms * MS)
    recent = watched.watch.recent
    assert recent.loop.total(60, watched.now) == 7 * MS
    assert recent.loop.largest(60, watched.now) == 4 * MS
    assert recent.process.largest(60, watched.now) == 8 * MS
    (family,) = recent.seconds.collect()
    found = {
        (each.name.rpartition("_")[2], *each.labels.values()): each.value for each in family.samples
    }
    assert found["count", "loop"] == 3
    assert found["sum", "wall"] == 0.04
    assert found["bucket", "loop", "0.002"] == 2


def test_work_is_seen_by_the_real_clocks() -> None:
    """A loop of arithmetic is work of this thread and of its process."""
    watch = StallWatch()
    began = cpu_time()
    while cpu_time().loop_ns - began.loop_ns < 30 * MS:
        pass
    moment = watch.tick()
    work = watch.recent.loop.largest(60, moment.now_ns)
    of_all = watch.recent.process.largest(60, moment.now_ns)
    assert 20 * MS <= work <= of_all <= moment.stall_ns


def test_a_late_probe_is_a_stall(watched: Watched, watch: StallWatch) -> None:
    """Threads that stand still are found out though the event loop goes on, while it lasts too."""
    watch.probe()
    watched.wait(PROBE_TOLERANCE_NS)
    assert watch.moment().stall_ns == 0
    watched.wait(900 * MS)
    assert watch.moment().stall_ns == 900 * MS
    assert watch.counted_ns == 0
    watch.receive_probe()
    watched.wait(TICK_INTERVAL_NS)
    assert watch.moment().stall_ns == watch.counted_ns == 900 * MS
    assert watch.recent.wall.largest(60, watched.now) == 900 * MS


def test_what_a_probe_usually_takes_is_no_stall(watched: Watched, watch: StallWatch) -> None:
    """It is the least of the last ones, so that a single late one does not become usual."""
    for _ in range(PROBE_SAMPLES):
        watched.probe(10 * MS)
    assert watch.counted_ns == 0
    assert watched.probe(10 * MS + PROBE_TOLERANCE_NS) == 0
    assert watched.probe(10 * MS + PROBE_TOLERANCE_NS + 1) == 1


def test_no_storm_is_usual(watched: Watched) -> None:
    """However often a probe is late, all beyond a bound goes on to count."""
    *_, before, after = (watched.probe(1_000 * MS) for _ in range(2 * PROBE_SAMPLES))
    assert after - before == 1_000 * MS - LONGEST_USUAL_NS - PROBE_TOLERANCE_NS


def test_a_standstill_of_both_counts_once(watched: Watched, watch: StallWatch) -> None:
    """The event loop stands still while the probe is on its way, and the probe is late for longer."""
    watch.probe()
    watched.now += 500 * MS
    watch.tick()
    watched.wait(100 * MS)
    watch.receive_probe()
    assert watch.counted_ns == 600 * MS - TICK_INTERVAL_NS
    assert watch.recent.wall.largest(60, watched.now) == watch.counted_ns


def test_what_was_carried_is_known_by_probes(watched: Watched, watch: StallWatch) -> None:
    """While nobody probes nothing is waited for; then it is the newest one that has come back."""
    assert watch.carried_ns == NEVER_NS
    carried = []
    for _ in range(2):
        watch.probe()
        sent = watched.now
        watched.wait(1)
        carried.append(watch.carried_ns)
        watch.receive_probe()
        assert watch.carried_ns == sent
    assert carried == [5_000 * MS] * 2
    watch.give_up_probe()
    assert watch.carried_ns == NEVER_NS


def test_a_probe_that_is_given_up_is_no_sign(watched: Watched, watch: StallWatch) -> None:
    """A stream that broke says nothing of the others; what it was late by so far stays counted."""
    watch.probe()
    watched.wait(PROBE_TOLERANCE_NS + 5 * MS)
    watch.give_up_probe()
    watched.wait(2 * TICK_INTERVAL_NS)
    counted_ns = watch.counted_ns
    assert 5 * MS <= counted_ns <= 5 * MS + TICK_INTERVAL_NS
    watched.wait(1_000 * MS)
    assert watch.moment().stall_ns == counted_ns


STEPS = st.lists(
    st.tuples(st.sampled_from(["tick", "probe", "give up"]), st.integers(0, 200 * MS)), max_size=40
)


@given(STEPS)
def test_no_time_is_counted_twice(steps: list[tuple[str, int]]) -> None:
    """Whatever is late when: the time served goes on or stands, but for the timers' resolution."""
    watched = Watched()
    watch, is_under_way = watched.watch, False
    last = watch.moment()
    for kind, ns in steps:
        watched.now += ns
        if kind == "tick":
            watch.tick()
        elif kind == "give up":
            watch.give_up_probe()
            watch.send, is_under_way = lambda: None, False
        else:
            (watch.receive_probe if is_under_way else watch.probe)()
            is_under_way = not is_under_way
        moment = watch.moment()
        assert moment.served_ns >= last.served_ns - TIMER_RESOLUTION_NS
        assert moment.stall_ns >= last.stall_ns
        assert watch.counted_ns <= moment.stall_ns
        last = moment


def test_the_last_minutes_add_up() -> None:
    """What is older is left out, and what is older than all that is kept is gone."""
    rolling = RollingTotal(3)
    assert (rolling.total(2, 0), rolling.largest(2, 0)) == (0, 0)
    for minute, amount in ((0, 5), (0, 7), (1, 2), (3, 4)):
        rolling.add(amount, minute * NS_PER_MINUTE + 1)
    now = 3 * NS_PER_MINUTE + 2
    assert [rolling.total(minutes, now) for minutes in (1, 2, 3, 4)] == [4, 4, 6, 18]
    assert [rolling.largest(minutes, now) for minutes in (1, 3, 4)] == [4, 4, 7]
    rolling.add(1, 4 * NS_PER_MINUTE)
    assert rolling.total(9, 4 * NS_PER_MINUTE) == 7
    assert rolling.total(3, 99 * NS_PER_MINUTE) == 0

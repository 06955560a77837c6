"""The server's time and its stalls."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from meijin.server.match.arbiter.stalls import (
    LONGEST_USUAL_NS,
    NEVER_NS,
    PROBE_SAMPLES,
    PROBE_TOLERANCE_NS,
    TICK_INTERVAL_NS,
    TIMER_RESOLUTION_NS,
    CpuTime,
    StallWatch,
    cpu_time,
)


class FakeClock:
    """A monotonic clock that only the test moves."""

    def __init__(self) -> None:
        self.now = 5_000_000_000

    def __call__(self) -> int:
        """Now, in nanoseconds."""
        return self.now


def test_a_prompt_tick_is_no_stall() -> None:
    """The loop's timers know no less than a millisecond."""
    clock = FakeClock()
    watch = StallWatch(clock)
    for late in (0, TIMER_RESOLUTION_NS // 2, TIMER_RESOLUTION_NS):
        clock.now += TICK_INTERVAL_NS + late
        assert watch.tick() == (clock.now, 0)


def test_a_late_tick_is_a_stall() -> None:
    """All that the tick is late by counts, and stays counted."""
    clock = FakeClock()
    watch = StallWatch(clock)
    clock.now += TICK_INTERVAL_NS + TIMER_RESOLUTION_NS + 1
    assert watch.tick().stall_ns == TIMER_RESOLUTION_NS + 1
    clock.now += TICK_INTERVAL_NS
    assert watch.tick().stall_ns == TIMER_RESOLUTION_NS + 1
    clock.now += TICK_INTERVAL_NS + 3 * TIMER_RESOLUTION_NS
    assert watch.tick().stall_ns == 4 * TIMER_RESOLUTION_NS + 1


def test_the_loops_ordinary_lateness_counts() -> None:
    """A few milliseconds of other bots' messages are no bot's time, however often they come."""
    clock = FakeClock()
    watch = StallWatch(clock)
    for _ in range(100):
        clock.now += TICK_INTERVAL_NS + 5_000_000
        watch.tick()
    assert watch.moment().stall_ns == 100 * 5_000_000
    assert watch.moment().served_ns == clock.now - 500_000_000


def test_a_stall_counts_while_it_lasts() -> None:
    """Answers that are read before the next tick are already credited."""
    clock = FakeClock()
    watch = StallWatch(clock)
    clock.now += TICK_INTERVAL_NS + TIMER_RESOLUTION_NS
    assert watch.moment().stall_ns == 0
    clock.now += 1
    first = watch.moment()
    assert first == (clock.now, TIMER_RESOLUTION_NS + 1)
    clock.now += 10
    assert watch.tick().stall_ns == TIMER_RESOLUTION_NS + 11


def test_looking_changes_nothing() -> None:
    """Only ticks count: any number of looks in between add no stall."""
    clock = FakeClock()
    watch = StallWatch(clock)
    for _ in range(10):
        clock.now += TICK_INTERVAL_NS // 10
        watch.moment()
    assert watch.tick().stall_ns == 0
    clock.now += TICK_INTERVAL_NS + 2 * TIMER_RESOLUTION_NS
    assert watch.moment() == watch.moment() == watch.tick()


def test_neither_time_nor_stall_runs_backwards() -> None:
    """Two moments may always be subtracted."""
    clock = FakeClock()
    watch = StallWatch(clock)
    last = watch.moment()
    for step in (
        1,
        TICK_INTERVAL_NS,
        3 * TIMER_RESOLUTION_NS,
        5,
        TICK_INTERVAL_NS,
        TICK_INTERVAL_NS + TIMER_RESOLUTION_NS,
        9 * TIMER_RESOLUTION_NS,
    ):
        for look in (watch.moment, watch.tick, watch.moment):
            moment = look()
            assert moment.now_ns >= last.now_ns
            assert moment.stall_ns >= last.stall_ns
            last = moment
        clock.now += step


def test_recent_stalls_are_told() -> None:
    """Each by itself, so that the longest can be told; one that still goes on is not there yet."""
    clock = FakeClock()
    watch = StallWatch(clock)
    for late in (3_000_000, 0, 7_000_000):
        clock.now += TICK_INTERVAL_NS + late
        watch.tick()
    clock.now += TICK_INTERVAL_NS + 90_000_000
    assert watch.recent.wall.total(60, clock.now) == 10_000_000
    assert watch.recent.wall.largest(60, clock.now) == 7_000_000


class FakeCpu:
    """Processor time that only the test uses."""

    def __init__(self) -> None:
        self.loop = self.process = 1_000_000_000

    def __call__(self) -> CpuTime:
        """What has been used so far."""
        return CpuTime(self.loop, self.process)


def test_a_stall_tells_how_much_of_it_was_work() -> None:
    """A stopped process does none; other threads' work is told by itself, and no more than it all."""
    clock, cpu = FakeClock(), FakeCpu()
    watch = StallWatch(clock, cpu)
    stalls = ((30, 4, 5), (8, 1, 25), (2, 9, 9))
    for wall_ms, loop_ms, process_ms in stalls:
        clock.now += TICK_INTERVAL_NS + wall_ms * 1_000_000
        cpu.loop += loop_ms * 1_000_000
        cpu.process += process_ms * 1_000_000
        watch.tick()
    recent = watch.recent
    assert recent.loop.total(60, clock.now) == 7_000_000
    assert recent.loop.largest(60, clock.now) == 4_000_000
    assert recent.process.largest(60, clock.now) == 8_000_000
    (family,) = recent.seconds.collect()
    found = {
        (each.name.rpartition("_")[2], *each.labels.values()): each.value for each in family.samples
    }
    assert found["count", "loop"] == 3
    assert found["sum", "wall"] == 0.04
    assert found["bucket", "loop", "0.002"] == 2


def test_work_between_prompt_ticks_is_of_no_stall() -> None:
    """Many short turns of the loop are no long one."""
    clock, cpu = FakeClock(), FakeCpu()
    watch = StallWatch(clock, cpu)
    for late_ms in (0, 0, 0, 5):
        clock.now += TICK_INTERVAL_NS + late_ms * 1_000_000
        cpu.loop += 3_000_000
        cpu.process += 3_000_000
        watch.tick()
    assert watch.recent.loop.largest(60, clock.now) == 3_000_000


def test_work_is_seen_by_the_real_clocks() -> None:
    """A loop of arithmetic is work of this thread and of its process."""
    watch = StallWatch()
    began = cpu_time()
    while cpu_time().loop_ns - began.loop_ns < 30_000_000:
        pass
    moment = watch.tick()
    work = watch.recent.loop.largest(60, moment.now_ns)
    assert 20_000_000 <= work <= watch.recent.process.largest(60, moment.now_ns)
    assert watch.recent.process.largest(60, moment.now_ns) <= moment.stall_ns


class Probed:
    """A watch whose ticks are prompt, and whose probes take as long as the test wants."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.watch = StallWatch(self.clock)
        self.watch.send = lambda: None

    def wait(self, ns: int) -> None:
        """Let time pass, in which the event loop ticks."""
        while ns > 0:
            step = min(ns, TICK_INTERVAL_NS)
            self.clock.now += step
            self.watch.tick()
            ns -= step

    def probe(self, ns: int) -> int:
        """Have a probe come back after so long; what is counted then."""
        self.watch.probe()
        self.wait(ns)
        self.watch.receive_probe()
        return self.watch.counted_ns


def test_a_late_probe_is_a_stall() -> None:
    """Threads that stand still are found out though the event loop goes on, while it lasts too."""
    probed = Probed()
    probed.watch.probe()
    probed.wait(PROBE_TOLERANCE_NS)
    assert probed.watch.moment().stall_ns == 0
    probed.wait(900_000_000)
    assert probed.watch.moment().stall_ns == 900_000_000
    assert probed.watch.counted_ns == 0
    probed.watch.receive_probe()
    probed.wait(TICK_INTERVAL_NS)
    assert probed.watch.moment().stall_ns == probed.watch.counted_ns == 900_000_000
    assert probed.watch.recent.wall.largest(60, probed.clock.now) == 900_000_000


def test_what_a_probe_usually_takes_is_no_stall() -> None:
    """It is the least of the last ones, so that a single late one does not become usual."""
    probed = Probed()
    for _ in range(PROBE_SAMPLES):
        probed.probe(10_000_000)
    assert probed.watch.counted_ns == 0
    assert probed.probe(10_000_000 + PROBE_TOLERANCE_NS) == 0
    assert probed.probe(10_000_001 + PROBE_TOLERANCE_NS) == 1


def test_no_storm_is_usual() -> None:
    """However often a probe is late, all beyond a bound goes on to count."""
    probed = Probed()
    for _ in range(2 * PROBE_SAMPLES):
        probed.probe(1_000_000_000)
    before = probed.watch.counted_ns
    late_ns = 1_000_000_000 - LONGEST_USUAL_NS - PROBE_TOLERANCE_NS
    assert probed.probe(1_000_000_000) - before == late_ns


def test_a_standstill_of_both_counts_once() -> None:
    """The event loop stands still while the probe is on its way, and the probe is late for longer."""
    probed = Probed()
    probed.watch.probe()
    probed.clock.now += 500_000_000
    probed.watch.tick()
    probed.wait(100_000_000)
    probed.watch.receive_probe()
    assert probed.watch.counted_ns == 600_000_000 - TICK_INTERVAL_NS
    assert probed.watch.recent.wall.largest(60, probed.clock.now) == probed.watch.counted_ns


def test_what_was_carried_is_known_by_probes() -> None:
    """While nobody probes nothing is waited for; then it is the newest one that has come back."""
    probed = Probed()
    assert probed.watch.carried_ns == NEVER_NS
    probed.watch.probe()
    first = probed.clock.now
    probed.wait(1)
    assert probed.watch.carried_ns == first
    probed.watch.receive_probe()
    probed.watch.probe()
    second = probed.clock.now
    probed.wait(1)
    assert probed.watch.carried_ns == first
    probed.watch.receive_probe()
    assert probed.watch.carried_ns == second
    probed.watch.give_up_probe()
    assert probed.watch.carried_ns == NEVER_NS


def test_a_probe_that_is_given_up_is_no_sign() -> None:
    """A stream that broke says nothing of the others; what it was late by so far stays counted."""
    probed = Probed()
    probed.watch.probe()
    probed.wait(PROBE_TOLERANCE_NS + 5_000_000)
    probed.watch.give_up_probe()
    probed.wait(2 * TICK_INTERVAL_NS)
    counted_ns = probed.watch.counted_ns
    assert 5_000_000 <= counted_ns <= 5_000_000 + TICK_INTERVAL_NS
    probed.wait(1_000_000_000)
    assert probed.watch.moment().stall_ns == counted_ns


STEPS = st.lists(
    st.tuples(st.sampled_from(["tick", "probe", "give up"]), st.integers(0, 200_000_000)),
    max_size=40,
)


@given(STEPS)
def test_no_time_is_counted_twice(steps: list[tuple[str, int]]) -> None:
    """Whatever is late when: the time served goes on or stands, but for the timers' resolution."""
    clock = FakeClock()
    watch = StallWatch(clock)
    watch.send = lambda: None
    last, is_under_way = watch.moment(), False
    for kind, ns in steps:
        clock.now += ns
        if kind == "tick":
            watch.tick()
        elif kind == "give up":
            watch.give_up_probe()
            watch.send = lambda: None
            is_under_way = False
        elif is_under_way:
            watch.receive_probe()
            is_under_way = False
        else:
            watch.probe()
            is_under_way = True
        moment = watch.moment()
        assert moment.served_ns >= last.served_ns - TIMER_RESOLUTION_NS
        assert moment.stall_ns >= last.stall_ns
        assert watch.counted_ns <= moment.stall_ns
        last = moment

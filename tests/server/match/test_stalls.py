"""The server's time and its stalls."""

from meijin.server.match.stalls import TICK_INTERVAL_NS, TIMER_RESOLUTION_NS, StallWatch


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
    assert watch.recent.total(60, clock.now) == 10_000_000
    assert watch.recent.largest(60, clock.now) == 7_000_000

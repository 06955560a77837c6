"""The server's time and its stalls."""

from meijin.server.match.stalls import INTERVAL, TOLERANCE, StallWatch


class FakeClock:
    """A monotonic clock that only the test moves."""

    def __init__(self) -> None:
        self.now = 5_000_000_000

    def __call__(self) -> int:
        """Now, in nanoseconds."""
        return self.now


def test_a_prompt_tick_is_no_stall() -> None:
    """A tick may be late by the tolerance, which is the loop's ordinary load."""
    clock = FakeClock()
    watch = StallWatch(clock)
    for late in (0, TOLERANCE // 2, TOLERANCE):
        clock.now += INTERVAL + late
        assert watch.tick() == (clock.now, 0)


def test_a_late_tick_is_a_stall() -> None:
    """All that the tick is late by counts, and stays counted."""
    clock = FakeClock()
    watch = StallWatch(clock)
    clock.now += INTERVAL + TOLERANCE + 1
    assert watch.tick().stall == TOLERANCE + 1
    clock.now += INTERVAL
    assert watch.tick().stall == TOLERANCE + 1
    clock.now += INTERVAL + 3 * TOLERANCE
    assert watch.tick().stall == 4 * TOLERANCE + 1


def test_a_stall_counts_while_it_lasts() -> None:
    """Answers that are read before the next tick are already credited."""
    clock = FakeClock()
    watch = StallWatch(clock)
    clock.now += INTERVAL + TOLERANCE
    assert watch.moment().stall == 0
    clock.now += 1
    first = watch.moment()
    assert first == (clock.now, TOLERANCE + 1)
    clock.now += 10
    assert watch.tick().stall == TOLERANCE + 11


def test_looking_changes_nothing() -> None:
    """Only ticks count: any number of looks in between add no stall."""
    clock = FakeClock()
    watch = StallWatch(clock)
    for _ in range(10):
        clock.now += INTERVAL // 10
        watch.moment()
    assert watch.tick().stall == 0
    clock.now += INTERVAL + 2 * TOLERANCE
    assert watch.moment() == watch.moment() == watch.tick()


def test_neither_time_nor_stall_runs_backwards() -> None:
    """Two moments may always be subtracted."""
    clock = FakeClock()
    watch = StallWatch(clock)
    last = watch.moment()
    for step in (1, INTERVAL, 3 * TOLERANCE, 5, INTERVAL, INTERVAL + TOLERANCE, 9 * TOLERANCE):
        for look in (watch.moment, watch.tick, watch.moment):
            moment = look()
            assert moment.now >= last.now
            assert moment.stall >= last.stall
            last = moment
        clock.now += step

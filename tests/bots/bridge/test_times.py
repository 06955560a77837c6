"""The time that engines are told of."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from meijin.bots import Position
from meijin.bots.bridge.dialogue import EngineTime
from meijin.bots.bridge.times import Overrun, engine_time
from meijin.game import Board, TimeControl


def position(control: str, left_ms: int | None = None) -> Position:
    """A turn with so much left on the clock."""
    made = Position(Board(), TimeControl.parse(control))
    if left_ms is not None:
        made.set_clocks(left_ms, left_ms)
    return made


def test_cap_per_move() -> None:
    """The cap less the margin; the game has no limit."""
    assert engine_time(position("5/move")) == EngineTime(4900, 0, None)


def test_clock() -> None:
    """A share of the clock and of the increment for the move, and what is left less the margin."""
    assert engine_time(position("60+0.5", 30_000)) == EngineTime(5400, 59_900, 29_900)


def test_clock_and_cap() -> None:
    """The cap holds where it is less than the share."""
    assert engine_time(position("60,2/move")).turn_ms == 1900


def test_overrun_is_kept_back() -> None:
    """What the engine took beyond its time is kept back as well, half of the time at most."""
    late = timedelta(milliseconds=300)
    assert engine_time(position("5/move"), overrun=late).turn_ms == 4600
    assert engine_time(position("5/move"), overrun=timedelta(hours=1)).turn_ms == 2400


def test_the_road_is_kept_back() -> None:
    """What the last move lost on it beyond the margin, half of the time at most."""
    made = position("5/move")
    made.lost_us = 80_000
    assert engine_time(made).turn_ms == 4900
    made.lost_us = 700_000
    assert engine_time(made).turn_ms == 4300
    made.lost_us = 60_000_000
    assert engine_time(made).turn_ms == 2400


@given(
    st.integers(1, 100_000),
    st.integers(1, 100_000),
    st.integers(0, 60_000),
    st.integers(0, 60_000),
)
def test_time_is_told_that_there_is(left: int, cap: int, margin: int, overrun: int) -> None:
    """However little is left, it is more than nothing, and no more than there is but for 5 ms."""
    control = TimeControl(timedelta(seconds=60), per_move=timedelta(milliseconds=cap))
    made = Position(Board(), control)
    made.set_clocks(left, left)
    told = engine_time(made, timedelta(milliseconds=margin), timedelta(milliseconds=overrun))
    assert 5 <= told.turn_ms <= max(5, min(left, cap))
    assert told.left_ms is not None
    assert 5 <= told.left_ms <= max(5, left)


def test_overrun_is_forgotten_slowly() -> None:
    """The worst counts, and less with each move that is in time."""
    overrun = Overrun()
    second = timedelta(seconds=1)
    overrun.add(second, 1.5 * second)
    assert overrun.time == second / 2
    overrun.add(second, second / 2)
    assert overrun.time == 0.45 * second
    for _ in range(100):
        overrun.add(second, second / 2)
    assert overrun.time < timedelta(milliseconds=1)

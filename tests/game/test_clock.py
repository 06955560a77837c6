"""Time controls and clocks."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.game import Clock, Seat, TimeControl

SECOND = 10**9
WEEK = timedelta(days=7)
ONE, OTHER = Seat.FIRST, Seat.SECOND

durations = st.timedeltas(timedelta(microseconds=1), WEEK)
time_controls = st.one_of(
    st.builds(
        TimeControl,
        durations,
        st.just(timedelta(0)) | durations,
        st.none() | durations,
    ),
    st.builds(TimeControl, per_move=durations),
)


def clock(text: str) -> Clock:
    """A clock under a written time control."""
    return Clock(TimeControl.parse(text))


@pytest.mark.parametrize(
    ("text", "time_control"),
    [
        ("60", TimeControl(timedelta(seconds=60))),
        ("60+0.5", TimeControl(timedelta(seconds=60), timedelta(seconds=0.5))),
        ("5/move", TimeControl(per_move=timedelta(seconds=5))),
        ("60,5/move", TimeControl(timedelta(seconds=60), per_move=timedelta(seconds=5))),
        (
            "60+0.5,5/move",
            TimeControl(timedelta(seconds=60), timedelta(seconds=0.5), timedelta(seconds=5)),
        ),
    ],
)
def test_written_form(text: str, time_control: TimeControl) -> None:
    """A time control is written as clock, increment and time per move."""
    assert TimeControl.parse(text) == time_control
    assert str(time_control) == text


@given(time_controls)
def test_parse_reads_what_str_writes(time_control: TimeControl) -> None:
    """`TimeControl.parse` is the inverse of `str`."""
    assert TimeControl.parse(str(time_control)) == time_control


def test_no_increment_is_not_written() -> None:
    """An increment of zero may be written, but `str` leaves it out."""
    assert str(TimeControl.parse(" 60.0+0 ")) == "60"


@pytest.mark.parametrize(
    "text",
    ["", "x", "60+", "+1", "60,", ",5/move", "5/move,60", "60 + 1", "-60", "60,5", "1.2.3", "1e3"],
)
def test_garbage(text: str) -> None:
    """The error for another text shows the forms that are read."""
    forms = r'"60", "60\+0.5", "5/move" and "60\+0.5,5/move"'
    with pytest.raises(ValueError, match=f"is no time control.*{forms}"):
        TimeControl.parse(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("0", "initial"),
        ("604800.000001", "initial"),
        ("999999999999", "initial"),
        ("1+604801", "increment"),
        ("0/move", "per_move"),
        ("1,604801/move", "per_move"),
    ],
)
def test_duration_out_of_range(text: str, name: str) -> None:
    """A duration of zero, or of more than a week, is refused by its name."""
    with pytest.raises(ValueError, match=rf"{name} .* is out of range: above 0, at most 7 days"):
        TimeControl.parse(text)


def test_longest() -> None:
    """Every duration may be a week."""
    assert str(TimeControl(WEEK, WEEK, WEEK)) == "604800+604800,604800/move"


def test_negative_increment() -> None:
    """An increment can't take time away."""
    with pytest.raises(ValueError, match="increment -1 day, 23:59:59 is out of range"):
        TimeControl(WEEK, timedelta(seconds=-1))


def test_unlimited() -> None:
    """A time control limits something."""
    with pytest.raises(ValueError, match="needs an initial time, a time per move, or both"):
        TimeControl()


def test_increment_without_clock() -> None:
    """An increment needs a clock to be added to."""
    with pytest.raises(ValueError, match="increment 0:00:01 needs an initial time"):
        TimeControl(increment=timedelta(seconds=1), per_move=timedelta(seconds=5))


@pytest.mark.parametrize(
    ("text", "budget", "left"),
    [("60+1", 60, 60), ("5/move", 5, 5), ("60,5/move", 5, 60), ("3,5/move", 3, 3)],
)
def test_budget_at_the_start(text: str, budget: int, left: int) -> None:
    """The budget is the lesser of the clock and the time per move; a clock shows itself."""
    for seat in Seat:
        assert clock(text).budget_ns(seat) == budget * SECOND
        assert clock(text).left_ns(seat) == left * SECOND


def test_charge() -> None:
    """A move takes its time off the mover's clock alone, and then adds the increment."""
    running = clock("60+0.5")
    assert running.charge(ONE, 10 * SECOND)
    assert running.left_ns(ONE) == 50.5 * SECOND
    assert running.left_ns(OTHER) == 60 * SECOND


def test_charge_to_the_last_nanosecond() -> None:
    """A move may take the whole budget."""
    running = clock("60+1")
    assert running.charge(OTHER, 60 * SECOND)
    assert running.left_ns(OTHER) == SECOND


@pytest.mark.parametrize(("text", "budget"), [("60+1", 60), ("60+1,5/move", 5), ("5/move", 5)])
def test_flag_falls(text: str, budget: int) -> None:
    """A nanosecond over the budget, of clock or of move, is refused, and then nothing is left."""
    running = clock(text)
    before = running.left_ns(ONE)
    assert not running.charge(ONE, budget * SECOND + 1)
    assert running.left_ns(ONE) == before
    running.drop_flag(ONE)
    assert running.left_ns(ONE) == running.budget_ns(ONE) == 0
    assert running.left_ns(OTHER) > 0


def test_no_clock_never_runs_down() -> None:
    """Without a clock every move has the same budget."""
    running = clock("5/move")
    assert all(running.charge(ONE, 5 * SECOND) for _ in range(100))
    assert running.left_ns(ONE) == running.budget_ns(ONE) == 5 * SECOND


def test_no_cap() -> None:
    """Without a time per move a move may take all that increments have saved up."""
    running = clock("604800+604800")
    assert running.charge(ONE, 0)
    assert running.budget_ns(ONE) == 2 * 604_800 * SECOND


@given(time_controls, st.lists(st.tuples(st.sampled_from(Seat), st.integers(0, 10**15))))
def test_time_adds_up(time_control: TimeControl, moves: list[tuple[Seat, int]]) -> None:
    """A clock is never negative, and no nanosecond is lost."""
    running = Clock(time_control)
    increment = time_control.increment // timedelta(microseconds=1) * 1000
    for seat, spent in moves:
        before, budget = running.left_ns(seat), running.budget_ns(seat)
        in_time = running.charge(seat, spent)
        assert in_time is (spent <= budget)
        if not in_time or time_control.initial is None:
            assert running.left_ns(seat) == before
        else:
            assert running.left_ns(seat) == before - spent + increment
        assert running.left_ns(seat) >= running.budget_ns(seat) >= 0


def test_negative_time() -> None:
    """A move takes no less than no time, and the clock stays as it is."""
    running = clock("60")
    with pytest.raises(ValueError, match="can't take -1 ns"):
        running.charge(ONE, -1)
    assert running.left_ns(ONE) == 60 * SECOND


def test_each_seat_has_its_own_time_control() -> None:
    """Start, increment and limit of a move are its own."""
    clock = Clock.of(TimeControl.parse("60+1,5/move"), TimeControl.parse("2/move"))
    assert (clock.budget_ns(Seat.FIRST), clock.left_ns(Seat.FIRST)) == (5 * SECOND, 60 * SECOND)
    assert (clock.budget_ns(Seat.SECOND), clock.left_ns(Seat.SECOND)) == (2 * SECOND, 2 * SECOND)
    assert not clock.charge(Seat.SECOND, 3 * SECOND)
    assert clock.charge(Seat.FIRST, 3 * SECOND)
    assert clock.charge(Seat.SECOND, 2 * SECOND)
    assert (clock.left_ns(Seat.FIRST), clock.left_ns(Seat.SECOND)) == (58 * SECOND, 2 * SECOND)
    clock.drop_flag(Seat.SECOND)
    assert (clock.left_ns(Seat.SECOND), clock.budget_ns(Seat.SECOND)) == (0, 0)
    assert clock.budget_ns(Seat.FIRST) == 5 * SECOND

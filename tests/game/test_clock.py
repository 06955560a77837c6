"""Time controls and clocks."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.game.made_records import time_controls

from meijin.game import Clock, Seat, TimeControl, cpu_charge
from meijin.game.clock import format_seconds, parse_seconds

SECOND = 10**9
WEEK = timedelta(days=7)
ONE, OTHER = Seat.FIRST, Seat.SECOND


def clock(text: str) -> Clock:
    return Clock(TimeControl.parse(text))


@pytest.mark.parametrize(
    ("text", "time_control"),
    [
        ("60", TimeControl(timedelta(seconds=60))),
        ("60+0.5", TimeControl(timedelta(seconds=60), timedelta(seconds=0.5))),
        ("5/move", TimeControl(per_move=timedelta(seconds=5))),
        ("60,5/move", TimeControl(timedelta(seconds=60), per_move=timedelta(seconds=5))),
        ("604800+604800,604800/move", TimeControl(WEEK, WEEK, WEEK)),
        ("60+0.5 cpu", TimeControl(timedelta(seconds=60), timedelta(seconds=0.5), cpu=True)),
    ],
)
def test_written_form(text: str, time_control: TimeControl) -> None:
    """A time control is written as clock, increment and time per move."""
    assert TimeControl.parse(text) == time_control
    assert str(time_control) == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (" 60.0+0 ", "60"),
        ("60s", "60"),
        ("1m+1s", "60+1"),
        ("1.5h", "5400"),
        ("500ms/move", "0.5/move"),
        ("2m+0.5,5s/move", "120+0.5,5/move"),
    ],
)
def test_units(text: str, written: str) -> None:
    """A duration may have a unit; it is written in seconds, and an increment of zero not at all."""
    assert str(TimeControl.parse(text)) == written


@given(time_controls)
def test_parse_reads_what_str_writes(time_control: TimeControl) -> None:
    assert TimeControl.parse(str(time_control)) == time_control


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
        ("0", "the time on the clock"),
        ("604800.000001", "the time on the clock"),
        ("999999999999", "the time on the clock"),
        ("1+604801", "the increment"),
        ("0/move", "the time per move"),
        ("1,604801/move", "the time per move"),
    ],
)
def test_duration_out_of_range(text: str, name: str) -> None:
    """A duration of zero, or of more than a week, is refused by its name."""
    with pytest.raises(ValueError, match=f"{name} has to be more than 0 and at most 604800 s"):
        TimeControl.parse(text)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({}, "needs an initial time, a time per move, or both"),
        ({"initial": WEEK, "increment": timedelta(-1)}, "the increment has to be more than 0"),
        ({"increment": WEEK, "per_move": WEEK}, "increment 7 days, 0:00:00 needs an initial time"),
    ],
)
def test_parts_that_make_no_sense(parts: dict[str, timedelta], message: str) -> None:
    """A time control limits something, and an increment needs a clock and can't take time away."""
    with pytest.raises(ValueError, match=message):
        TimeControl(**parts)  # type: ignore[arg-type]  # no flag is among them


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
    """A move takes its time off the mover's clock alone, to the last nanosecond, and adds the increment."""
    running = clock("60+0.5")
    assert running.charge(ONE, 10 * SECOND)
    assert (running.left_ns(ONE), running.left_ns(OTHER)) == (50.5 * SECOND, 60 * SECOND)
    assert running.charge(OTHER, 60 * SECOND)
    assert running.left_ns(OTHER) == 0.5 * SECOND


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


@pytest.mark.parametrize(("wall", "cpu", "charged"), [(10, 9, 9), (10, 1, 1), (100, 1, 10)])
def test_processor_time_is_charged(wall: int, cpu: int, charged: int) -> None:
    """Of one who sleeps a tenth of what has passed."""
    assert cpu_charge(wall, cpu) == charged


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


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (timedelta(0), "0"),
        (timedelta(seconds=60), "60"),
        (timedelta(seconds=0.5), "0.5"),
        (timedelta(microseconds=1), "0.000001"),
        (timedelta(days=7), "604800"),
        (timedelta(seconds=0.1) + timedelta(seconds=0.2), "0.3"),
    ],
)
def test_written_form_of_seconds(duration: timedelta, text: str) -> None:
    """No digits stand after the last one that counts."""
    assert format_seconds(duration) == text


@given(st.timedeltas(timedelta(0), timedelta(days=10_000)))
def test_parse_reads_what_format_writes(duration: timedelta) -> None:
    """Every duration is read back to the microsecond."""
    assert parse_seconds(format_seconds(duration)) == duration


@pytest.mark.parametrize("text", ["", ".5", "5.", "-1", "1e3", "0.0000001", "1s", "٣"])
def test_garbage_of_seconds(text: str) -> None:
    """The error for another text shows how seconds are written."""
    with pytest.raises(ValueError, match=r'is no number of seconds; write it like "60" or "0\.5"'):
        parse_seconds(text)

"""How much of its time a bot spends on one move."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.bots import Position
from meijin.bots.sdk.budget import thinking_time
from meijin.game import Board, TimeControl


def spent(control: str, left: float | None = None, limit: float | None = None) -> float:
    """The seconds for a move with `left` seconds on the clock."""
    position = Position(Board(), TimeControl.parse(control))
    if left is not None:
        position.set_clocks(int(left * 1000), int(left * 1000))
    return thinking_time(
        position, None if limit is None else timedelta(seconds=limit)
    ).total_seconds()


@pytest.mark.parametrize(
    ("control", "left", "seconds"),
    [
        ("5/move", None, 4.9),  # the cap less 100 ms
        ("0.2/move", None, 0.16),  # the cap less a fifth
        ("60", None, 3.0),  # a twentieth of the clock
        ("60+1", None, 3.8),  # and most of the increment
        ("60+1", 0.5, 0.4),  # but never more than is left
        ("60,2/move", None, 1.9),  # whichever is less
    ],
)
def test_share(control: str, left: float | None, seconds: float) -> None:
    """A clock is shared out over many moves, a cap is used up."""
    assert spent(control, left) == pytest.approx(seconds)


def test_limit() -> None:
    """A limit lowers the time and never raises it."""
    assert spent("5/move", limit=0.5) == 0.5
    assert spent("1/move", limit=60) == spent("1/move")


@given(
    left=st.integers(0, 3_600_000),
    initial=st.integers(1, 3_600),
    increment=st.integers(0, 60),
    cap=st.none() | st.timedeltas(timedelta(seconds=1), timedelta(minutes=1)),
)
def test_something_is_always_kept(
    left: int, initial: int, increment: int, cap: timedelta | None
) -> None:
    """At least 100 ms or a fifth of what may be spent stays unspent."""
    control = TimeControl(
        initial=timedelta(seconds=initial),
        increment=timedelta(seconds=increment),
        per_move=cap,
    )
    position = Position(Board(), control)
    position.set_clocks(left, left)
    time = thinking_time(position)
    kept = position.time_left - time
    assert time >= timedelta(0)
    assert kept >= min(timedelta(milliseconds=100), 0.2 * position.time_left)

"""What a bot sees at its turn."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.bots import Position
from meijin.bots.sdk.position import thinking_time
from meijin.game import TIC_TAC_TOE, Board, Color, TimeControl


@pytest.mark.parametrize(
    ("control", "clock", "move"),
    [("60+1", 60, 60), ("5/move", 5, 5), ("60,5/move", 60, 5), ("3,5/move", 3, 3)],
)
def test_time_at_the_start(control: str, clock: float, move: float) -> None:
    """A move may take what is on the clock, and no more than the cap."""
    position = Position(Board(), TimeControl.parse(control))
    assert position.clock_left == timedelta(seconds=clock)
    assert position.time_left == timedelta(seconds=move)
    assert position.opponent_time_left == timedelta(seconds=clock)


def test_set_clocks_and_spend() -> None:
    """Time that passes before the search is taken off both the clock and the cap."""
    position = Position(Board(), TimeControl.parse("60,5/move"))
    position.set_clocks(30_000, 20_000)
    position.spend(1_000)
    assert position.clock_left == timedelta(seconds=29)
    assert position.time_left == timedelta(seconds=4)
    assert position.opponent_time_left == timedelta(seconds=20)
    position.spend(10_000)
    assert position.time_left == timedelta(0)


def test_board() -> None:
    """The position says what is played, whose turn it is and what came last."""
    board = Board.from_moves([4], TIC_TAC_TOE)
    position = Position(board, TimeControl.parse("1/move"), game_id="g", opponent="rival")
    assert position.variant == TIC_TAC_TOE
    assert position.color is Color.WHITE
    assert position.last_move == 4
    assert position.legal_cells() == [0, 1, 2, 3, 5, 6, 7, 8]
    assert "rival" in repr(position)
    assert Position(Board(), TimeControl.parse("1/move")).last_move is None


def spent(control: str, left: float | None = None, limit: float | None = None) -> float:
    """The seconds for a move with `left` seconds on the clock."""
    position = Position(Board(), TimeControl.parse(control))
    if left is not None:
        position.set_clocks(int(left * 1000), int(left * 1000))
    most = None if limit is None else timedelta(seconds=limit)
    return thinking_time(position, most).total_seconds()


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

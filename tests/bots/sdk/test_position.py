"""What a bot sees at its turn."""

from datetime import timedelta

import pytest

from meijin.bots import Position
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


def test_no_last_move() -> None:
    """Nothing precedes the first move."""
    assert Position(Board(), TimeControl.parse("1/move")).last_move is None

"""Where no stone may be placed."""

import pytest
from hypothesis import given
from tests.game.made_records import records

from meijin.game import Board, GameRecord, Variant
from meijin.game.board.forbidden import forbidden_by_ply, forbidden_cells
from meijin.game.records.record import parse_position

RENJU = Variant.parse("renju 15x15")
CROSS = parse_position("h9a1h10a15i8o1j8o15", RENJU)
"""Black makes two threes on h8."""


def test_a_double_three_is_forbidden_to_black() -> None:
    """At the ply at which black is to move, and not at the one before."""
    forbidden = forbidden_by_ply(CROSS, RENJU)
    assert len(forbidden) == len(CROSS) + 1
    assert forbidden[8] == parse_position("h8", RENJU)
    assert forbidden[7] == ()


def test_it_is_what_the_board_says() -> None:
    """Every empty cell that is no legal move."""
    board = Board.from_moves(CROSS, RENJU)
    cells = [c for c in range(225) if board.stone(c) is None and not board.is_legal(c)]
    assert list(forbidden_cells(board)) == cells


@given(records())
def test_other_rules_forbid_nothing(record: GameRecord) -> None:
    """At no ply of any game."""
    assert not any(forbidden_by_ply(record.moves, record.variant))


def test_moves_that_are_no_game_are_an_error() -> None:
    with pytest.raises(ValueError, match="h9 is occupied"):
        forbidden_by_ply((CROSS[0],) * 2, RENJU)

"""Boards as games to search."""

import pytest

from meijin.bots.reference import Game
from meijin.bots.reference.stones import StonesGame
from meijin.bots.reference.tictactoe import outcome
from meijin.game import TIC_TAC_TOE, Board, Color


def test_plays_on_the_board_and_takes_back() -> None:
    """Moves are legal cells, black's turn comes first, and undo restores everything."""
    board = Board(TIC_TAC_TOE)
    game: Game[int] = StonesGame(board, outcome)
    before = board.copy()
    for cell in (0, 3, 1, 4, 2):
        assert game.maximiser_to_move is (board.side_to_move is Color.BLACK)
        assert cell in game.moves()
        game.play(cell)
    assert game.is_over
    assert game.evaluate() == 1
    for _ in range(5):
        game.undo()
    assert board == before


def test_key_forgets_the_order() -> None:
    """Two ways to the same stones have one key; another side to move has another."""
    keys = {
        StonesGame(Board.from_moves(c, TIC_TAC_TOE), outcome).key for c in ([0, 4, 8], [8, 4, 0])
    }
    assert len(keys) == 1
    assert keys.isdisjoint({StonesGame(Board.from_moves([0, 4], TIC_TAC_TOE), outcome).key})


@pytest.mark.parametrize("maximiser", Color)
def test_either_side_maximises(maximiser: Color) -> None:
    """The evaluation is turned round for white."""
    board = Board.parse("xxx/oo.", TIC_TAC_TOE)
    game = StonesGame(board, outcome, maximiser=maximiser)
    assert game.evaluate() == (1 if maximiser is Color.BLACK else -1)
    assert game.maximiser_to_move is (board.side_to_move is maximiser)

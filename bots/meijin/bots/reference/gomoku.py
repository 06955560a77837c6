"""Gomoku, searched to a fixed depth over every cell or over those near the stones."""

from __future__ import annotations

from collections.abc import Sequence

from meijin.bots.reference.game import Game
from meijin.bots.reference.minimax import alphabeta
from meijin.bots.reference.ordering import Ordering, ordered_by
from meijin.bots.reference.runs import board_worth, promise
from meijin.bots.reference.stones import Evaluation, StonesGame
from meijin.game import GOMOKU, Board, Color, Variant, parse_cell

NEAR = 2
"""A cell at most so far from a stone, in rows and in columns, is near."""
NEAR_PLIES = 2
"""Of a search by playouts: a move and its answer are near the stones."""

_MIDGAME = ("h8", "i9", "i7", "g9", "h9", "h10", "g7", "h7", "j10", "f8")
MIDGAME = tuple(parse_cell(name, GOMOKU) for name in _MIDGAME)
"""Ten stones on the board of Gomoku; neither side can force a win within three plies."""


class GomokuGame(StonesGame):
    """`Game` of cells on a Gomoku board; without a stone the centre is the only move.

    `reach` leaves the cells out that are farther than that from every stone; ``None`` is
    full width.
    """

    def __init__(
        self,
        board: Board,
        evaluation: Evaluation = board_worth,
        *,
        maximiser: Color = Color.BLACK,
        reach: int | None = None,
    ) -> None:
        super().__init__(board, evaluation, maximiser=maximiser)
        self._reach = reach

    def moves(self) -> Sequence[int]:
        """The cells to try, ascending."""
        board = self.board
        cells = board.legal_cells()
        if len(cells) == board.variant.cells:
            return [centre(board.variant)]
        if self._reach is None:
            return cells
        near = cells_near(board, self._reach)
        return [cell for cell in cells if cell in near] or cells


class PlayoutGame(GomokuGame):
    """`Game` for searches by playouts: near the stones at first, then anywhere.

    The cells near the stones matter for `NEAR_PLIES` plies; from there on all are moves, which
    are quicker to list.
    """

    def __init__(self, board: Board, *, maximiser: Color = Color.BLACK) -> None:
        super().__init__(board, maximiser=maximiser, reach=NEAR)
        self._far = board.ply + NEAR_PLIES

    def moves(self) -> Sequence[int]:
        """The cells to try, ascending."""
        return self.board.legal_cells() if self.board.ply >= self._far else super().moves()


def centre(variant: Variant) -> int:
    """The cell in the middle, tengen, or the one below and right of it."""
    return variant.height // 2 * variant.width + variant.width // 2


def cells_near(board: Board, reach: int) -> set[int]:
    """The cells at most `reach` rows and columns from a stone, those of the stones included."""
    width, height = board.variant.width, board.variant.height
    near: set[int] = set()
    for cell in range(board.variant.cells):
        if board.stone(cell) is not None:
            row, column = divmod(cell, width)
            columns = range(max(0, column - reach), min(width, column + reach + 1))
            for other in range(max(0, row - reach), min(height, row + reach + 1)):
                near.update(other * width + each for each in columns)
    return near


def by_promise(board: Board) -> Ordering[int]:
    """The cells of `board` that matter most first; it is the one that is played on."""

    def promise_of(_game: Game[int], cell: int) -> float:
        return promise(board, cell)

    return ordered_by(promise_of)


def choose(board: Board, depth: int = 2, *, reach: int | None = None) -> int:
    """The best cell for the side to move, which maximises; the game must not be over."""
    game = GomokuGame(board, maximiser=board.side_to_move, reach=reach)
    return alphabeta(game, depth, order=by_promise(board)).move

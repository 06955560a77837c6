"""Gomoku, searched to a fixed depth over every cell or over those near the stones.

Runs of stones say what a cell and a board are worth. What wins is asked of the board, by its rule.
A cell's promise knows no rule: there runs longer than the line count like the line, as under
freestyle.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeAlias

from meijin.bots.reference.game import Game, Ordering, ordered_by
from meijin.game import GOMOKU, Board, Color, Variant, parse_cell
from meijin.game.grid import BORDER

WIN = 1_000_000.0
"""The worth of a run that wins, more than all others on a board together."""


def run_worth(count: int, open_ends: int, line: int = 5) -> float:
    """The worth of `count` stones in a row with this many empty cells at its two ends.

    The square of the count, a quarter of that where one end is blocked, nothing where both
    are; `WIN` from `line` on.
    """
    if count >= line:
        return WIN
    return (0, count * count / 4, count * count)[open_ends]


def cell_worth(board: Board, cell: int, color: Color) -> float:
    """The worth of the runs that a stone of `color` on the empty `cell` would stand in.

    The stone counts; alone it is no run, so a cell without neighbours of its colour is
    worth nothing.
    """
    stones, at = board.stones, board.grid.index[cell]
    total = 0.0
    for step in board.grid.steps:
        low = _walk(stones, at, -step, color)
        high = _walk(stones, at, step, color)
        count = (high - low) // step - 1
        if count > 1:
            ends = (stones[low] == 0) + (stones[high] == 0)
            total += run_worth(count, ends, board.variant.line)
    return total


def promise(board: Board, cell: int) -> float:
    """How much the empty `cell` matters, to whichever side takes it."""
    return cell_worth(board, cell, Color.WHITE) + cell_worth(board, cell, Color.BLACK)


def board_worth(board: Board) -> float:
    """What a board is worth to black: the runs on it, white's counted against.

    A win is worth less the later it comes, by a point a stone.
    """
    if board.winner is not None:
        worth = WIN - board.ply
        return worth if board.winner is Color.BLACK else -worth
    stones = board.stones
    total = 0.0
    for at in board.grid.index:
        if color := stones[at]:
            worth = sum(_run_from(board, at, step) for step in board.grid.steps)
            total += worth if color == Color.BLACK else -worth
    return total


def _run_from(board: Board, at: int, step: int) -> float:
    """The worth of the run that begins with the stone `at`; nothing if it begins before.

    Nobody has won, so a run as long as the line is one that doesn't win, and never will.
    """
    stones = board.stones
    color, before = stones[at], stones[at - step]
    if before == color:
        return 0
    end = _walk(stones, at, step, color)
    ends = (before == 0) + (stones[end] == 0)
    count, line = (end - at) // step, board.variant.line
    return run_worth(count, ends, line) if count < line else 0


def _walk(stones: bytearray, at: int, step: int, color: int) -> int:
    """The first place from `at` on, `at` left out, without a stone of `color`."""
    assert color not in {0, BORDER}
    at += step
    while stones[at] == color:
        at += step
    return at


Evaluation: TypeAlias = Callable[[Board], float]
"""What a board is worth to black, over or not."""


class StonesGame:
    """`Game` of cells on a board, which the search plays on and leaves as found.

    The maximiser is black, unless `maximiser` says otherwise.
    """

    def __init__(
        self, board: Board, evaluation: Evaluation, *, maximiser: Color = Color.BLACK
    ) -> None:
        self.board = board
        self._evaluation = evaluation
        self._maximiser = maximiser

    @property
    def is_over(self) -> bool:
        return self.board.is_over

    @property
    def maximiser_to_move(self) -> bool:
        return self.board.side_to_move is self._maximiser

    @property
    def key(self) -> Hashable:
        """The stones; with a winner known from them, and the side to move from their number."""
        return bytes(self.board.stones)

    def moves(self) -> Sequence[int]:
        return self.board.legal_cells()

    def play(self, move: int) -> None:
        self.board.play(move)

    def undo(self) -> None:
        self.board.undo()

    def evaluate(self) -> float:
        """The evaluation, turned round where white is the maximiser."""
        value = self._evaluation(self.board)
        return value if self._maximiser is Color.BLACK else -value


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
        *,
        maximiser: Color = Color.BLACK,
        reach: int | None = None,
    ) -> None:
        super().__init__(board, board_worth, maximiser=maximiser)
        self._reach = reach

    def moves(self) -> Sequence[int]:
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

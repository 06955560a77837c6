"""The evaluation of Gomoku: what runs of stones are worth, to a cell and to a board.

What wins is asked of the board, by its rule. A cell's promise knows no rule: there runs longer
than the line count like the line, as under freestyle.
"""

from __future__ import annotations

from meijin.game import Board, Color
from meijin.game.grid import BORDER

WIN = 1_000_000.0
"""The worth of a run that wins, more than all others on a board together."""


def run_worth(count: int, open_ends: int, line: int = 5) -> float:
    """The worth of `count` stones in a row with so many empty cells at its two ends.

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

"""Random playouts, on a bitboard of lines."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from meijin.bots.core.geometry import CELLS, LINES, SIDE
from meijin.bots.core.jit import int64, jit, new_record, record_type, uint64, void
from meijin.bots.core.lookup import FIVES
from meijin.bots.core.shapes import Fives
from meijin.game import Variant

DRAW = 2
"""The result of a game that neither side, 0 or 1, has won."""

BOARD = np.dtype(
    [
        ("line_length", np.int64),  # stones in a row that win
        ("exact", np.int64, 2),  # by side: 1 where a longer row does not
        ("has_blocks", np.int64),  # 1 where a row of just that length needs a free end
        ("side", np.int64),  # to move: 0 black, 1 white
        ("seed", np.uint64),  # of the next draw; never 0
        ("count", np.int64),  # empty cells
        ("empty", np.int64, CELLS),  # the empty cells in any order, `count` of them
        ("place", np.int64, CELLS),  # of an empty cell in `empty`
        ("stones", np.uint64, (2, 4, LINES)),  # a bit per stone, by side, direction and line
        ("line", np.int64, (4, CELLS)),  # of each cell, by direction
        ("cells", np.uint64, (4, LINES)),  # of the board, a bit each, by direction and line
        ("bit", np.uint64, (4, CELLS)),  # of each cell in its line
    ],
    align=True,
)
"""A position for playouts. Lines hold bits alone: a stone costs four of them and no patterns."""
BOARD_TYPE = record_type(BOARD)


def new_board(variant: Variant, seed: int = 1) -> np.record:
    """Make an empty board; the same seed draws the same games."""
    board = new_record(BOARD)
    fives = FIVES[variant.rule.name]
    board.line_length = variant.line
    board.exact[:] = [side not in {Fives.ANY, Fives.UNBLOCKED} for side in fives]
    board.has_blocks = fives[0] in {Fives.UNBLOCKED, Fives.UNBLOCKED_EXACT}
    board.seed = (seed * 0x9E3779B97F4A7C15 & (1 << 64) - 1) or 1
    row, column = np.divmod(np.arange(variant.cells), variant.width)
    cells = slice(variant.cells)
    for direction, line in enumerate((row, column, row + column, row - column + SIDE - 1)):
        board.line[direction, cells] = line
        along = column if direction == 0 else row
        board.bit[direction, cells] = np.uint64(1) << along.astype(np.uint64)
        np.bitwise_or.at(board.cells[direction], line, board.bit[direction, cells])
    board.count = variant.cells
    board.empty[cells] = board.place[cells] = np.arange(variant.cells)
    return board


def set_up(board: np.record, moves: Iterable[int]) -> None:
    """Play the moves, black's first, on an empty board."""
    for cell in moves:
        place_stone(board, cell)


@jit(uint64(uint64, int64, int64))
def runs_in(line: np.uint64, length: int, exact: int) -> np.uint64:
    """The first bits of all rows of `length`, or of exactly as many, in a line of bits."""
    run = line
    for _ in range(length - 1):
        run &= run >> np.uint64(1)
    if exact:
        run &= ~(line << np.uint64(1)) & ~(line >> np.uint64(length))
    return run


@jit(int64(uint64, int64, int64))
def has_run(line: np.uint64, length: int, exact: int) -> int:
    """Whether a line of bits has `length` in a row, or exactly as many."""
    return int(runs_in(line, length, exact) != np.uint64(0))


@jit(int64(uint64, uint64, int64, int64))
def has_unblocked_run(line: np.uint64, free: np.uint64, length: int, exact: int) -> int:
    """Whether a line has exactly `length` in a row beside a free bit, or more unless `exact`."""
    if not exact and has_run(line, length + 1, 0):
        return 1
    beside = (free << np.uint64(1)) | (free >> np.uint64(length))
    return int(runs_in(line, length, 1) & beside != np.uint64(0))


@jit(int64(BOARD_TYPE, int64, int64, int64))
def wins_along(board: np.record, side: int, direction: int, line: int) -> int:
    """Whether a side has a winning row in a line."""
    own = board.stones[side, direction, line]
    if board.has_blocks == 0:
        return has_run(own, board.line_length, board.exact[side])
    free = board.cells[direction, line] & ~own & ~board.stones[1 - side, direction, line]
    return has_unblocked_run(own, free, board.line_length, board.exact[side])


@jit(void(BOARD_TYPE, int64))
def take_cell(board: np.record, cell: int) -> None:
    """Leave an empty cell out of those that may be played on."""
    last = board.empty[board.count - 1]
    at = board.place[cell]
    board.empty[at] = last
    board.place[last] = at
    board.count -= 1


@jit(int64(BOARD_TYPE, int64))
def place_stone(board: np.record, cell: int) -> int:
    """Place a stone of the side to move; 1 where it wins."""
    side = board.side
    won = 0
    for direction in range(4):
        line = board.line[direction, cell]
        board.stones[side, direction, line] |= board.bit[direction, cell]
        won |= wins_along(board, side, direction, line)
    take_cell(board, cell)
    board.side = 1 - side
    return won


@jit(int64(BOARD_TYPE, int64))
def random_below(board: np.record, below: int) -> int:
    """A random number from 0 to `below` - 1 (xorshift64, Marsaglia 2003)."""
    seed = board.seed
    seed ^= seed << np.uint64(13)
    seed ^= seed >> np.uint64(7)
    seed ^= seed << np.uint64(17)
    board.seed = seed
    return int(((seed >> np.uint64(32)) * np.uint64(below)) >> np.uint64(32))


@jit(int64(BOARD_TYPE))
def play_out(board: np.record) -> int:
    """Play random moves until the game is over, and return the side that wins, or `DRAW`."""
    while board.count > 0:
        side: int = board.side
        if place_stone(board, board.empty[random_below(board, board.count)]):
            return side
    return DRAW


@jit(void(BOARD_TYPE, BOARD_TYPE))
def copy_position(board: np.record, source: np.record) -> None:
    """Set the position of `board` to that of `source`; the geometry is the same."""
    board.side = source.side
    board.count = source.count
    for at in range(source.count):
        cell = source.empty[at]
        board.empty[at] = cell
        board.place[cell] = at
    for side in range(2):
        for direction in range(4):
            for line in range(LINES):
                board.stones[side, direction, line] = source.stones[side, direction, line]

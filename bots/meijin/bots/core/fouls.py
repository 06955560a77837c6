"""Fouls: which cells are forbidden to black under the renju rule."""

from __future__ import annotations

import numpy as np

from meijin.bots.core.jit import int64, jit, lowest_bit, uint64, void
from meijin.bots.core.lookup import KIND_DOUBTFUL, KIND_FOUL, TABLES_TYPE
from meijin.bots.core.shapes import (
    DOUBLE_FOUR,
    FIVE,
    LIMITED_FOUR,
    LIMITED_THREE,
    OVERLINE,
    STRAIGHT_FOUR,
)
from meijin.bots.core.state import STATE_TYPE, window_pattern

ALLOWED, FORBIDDEN, MAKES_FIVE = range(3)
"""What a black stone on a cell is."""
DOUBLE = 2
"""Fours, or threes, that are too many."""


@jit(int64(STATE_TYPE, TABLES_TYPE, int64, int64))
def shape_in(state: np.record, tables: np.record, direction: int, cell: int) -> int:
    """What a black stone on an empty cell makes in one direction, from the lines as they are."""
    return int64(window_pattern(state, tables, direction, cell) & 15)


@jit(void(STATE_TYPE, TABLES_TYPE, int64))
def toggle_black(state: np.record, tables: np.record, cell: int) -> None:
    """Place or take a black stone in the lines alone."""
    for direction in range(4):
        line = tables.line[direction, cell]
        state.lines[direction, line] ^= uint64(1) << tables.shift[direction, cell]


@jit(int64(STATE_TYPE, TABLES_TYPE, int64, int64, int64))
def gap_from(state: np.record, tables: np.record, direction: int, cell: int, way: int) -> int:
    """The first empty cell beside the black row of a cell, one `way` (1 or -1), or -1."""
    word = state.lines[direction, tables.line[direction, cell]]
    shift = int64(tables.shift[direction, cell])
    for steps in range(1, 5):
        value = (word >> uint64(shift + 2 * way * steps)) & uint64(3)
        if value == uint64(0):
            return int64(cell + way * steps * tables.step[direction])
        if value != uint64(1):
            return -1
    return -1


@jit(int64(STATE_TYPE, TABLES_TYPE, int64))
def judge(state: np.record, tables: np.record, cell: int) -> int:
    """What a black stone on an empty cell is; the lines are as before when it returns."""
    fours, threes, overlines = int64(0), int64(0), int64(0)
    for direction in range(4):
        shape = shape_in(state, tables, int64(direction), cell)
        if shape == FIVE:
            return MAKES_FIVE
        fours += int64(shape in (LIMITED_FOUR, STRAIGHT_FOUR))
        fours += DOUBLE * int64(shape == DOUBLE_FOUR)
        overlines += int64(shape == OVERLINE)
        threes += int64(shape == LIMITED_THREE)
    if overlines > 0 or fours >= DOUBLE:
        return FORBIDDEN
    if threes < DOUBLE:
        return ALLOWED
    spare = threes - DOUBLE
    for direction in range(4):
        if spare >= 0 and shape_in(state, tables, int64(direction), cell) == LIMITED_THREE:
            is_three = int64(0)
            toggle_black(state, tables, cell)
            for way in range(-1, 2, 2):
                gap = gap_from(state, tables, int64(direction), cell, int64(way))
                if (
                    is_three == 0
                    and gap >= 0
                    and shape_in(state, tables, int64(direction), gap) == STRAIGHT_FOUR
                ):
                    is_three = int64(judge(state, tables, int64(gap)) == ALLOWED)
            toggle_black(state, tables, cell)
            spare -= 1 - is_three
    return FORBIDDEN if spare >= 0 else ALLOWED


@jit(int64(STATE_TYPE, TABLES_TYPE, int64))
def may_play(state: np.record, tables: np.record, cell: int) -> int:
    """Whether the side to move may play on an empty cell."""
    if tables.has_fouls == 0 or state.side != 0:
        return 1
    return int64(judge(state, tables, cell) != FORBIDDEN)


@jit(int64(STATE_TYPE, TABLES_TYPE, int64, int64))
def allowed_cells(state: np.record, tables: np.record, row: int, mask: int) -> int:
    """The cells of a row's mask that the side to move may play on.

    Most fouls show in the cell's own code; only those that hang on other cells are looked into.
    """
    if tables.has_fouls == 0 or state.side != 0:
        return mask
    mask &= ~state.masks[0, KIND_FOUL, row]
    doubtful = mask & state.masks[0, KIND_DOUBTFUL, row]
    while doubtful != 0:
        cell = row * tables.width + lowest_bit(doubtful)
        if judge(state, tables, int64(cell)) == FORBIDDEN:
            mask ^= doubtful & -doubtful
        doubtful &= doubtful - 1
    return mask

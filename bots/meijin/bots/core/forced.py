"""Immediate wins and forced replies."""

from __future__ import annotations

import numpy as np

from meijin.bots.core.fouls import may_play
from meijin.bots.core.jit import int64, jit, uint64
from meijin.bots.core.lookup import KIND_FIVE, TABLES_TYPE
from meijin.bots.core.movegen import (
    add_candidates,
    add_defences,
    first_cell,
    open_four_cell,
)
from meijin.bots.core.shapes import FIVE, TWO_FOURS, WIN
from meijin.bots.core.state import STATE_TYPE

FIVE_PLIES, OPEN_FOUR_PLIES = 1, 3
"""Plies in which a five, and two fours at once, have won."""


@jit(int64(STATE_TYPE))
def immediate_win_plies(state: np.record) -> int:
    """The plies in which the side to move wins at once, by a five or two fours, or 0."""
    side = state.side
    if state.counts[side, WIN] > 0:
        return FIVE_PLIES
    if state.counts[1 - side, WIN] == 0 and state.counts[side, TWO_FOURS] > 0:
        return OPEN_FOUR_PLIES
    return 0


@jit(int64(STATE_TYPE, TABLES_TYPE, int64))
def immediate_win_cell(state: np.record, tables: np.record, plies: int) -> int:
    """The first cell that wins in `plies`, as `immediate_win_plies` counts them."""
    if plies == FIVE_PLIES:
        return first_cell(state, tables, state.side, KIND_FIVE)
    return open_four_cell(state, tables, state.side)


@jit(int64(STATE_TYPE, TABLES_TYPE, int64, int64, int64))
def only_free_end(
    state: np.record, tables: np.record, cell: int, direction: int, color: int
) -> int:
    """The one empty cell at an end of the row that a stone on `cell` would stand in, or -1."""
    word = state.lines[direction, tables.line[direction, cell]]
    shift = int64(tables.shift[direction, cell])
    found = int64(-1)
    for way in range(-1, 2, 2):
        steps = int64(1)
        value = (word >> uint64(shift + 2 * way)) & uint64(3)
        while value == uint64(color + 1):
            steps += 1
            value = (word >> uint64(shift + 2 * way * steps)) & uint64(3)
        if value == uint64(0):
            if found >= 0:
                return -1
            found = cell + way * steps * tables.step[direction]
    return found


@jit(int64(STATE_TYPE, TABLES_TYPE, int64, int64))
def add_blocks(state: np.record, tables: np.record, ply: int, cell: int) -> int:
    """Generate what stops the opponent's five on `cell`: that, or the only free end of the row."""
    other = 1 - state.side
    state.moves[ply, 0] = cell
    count = int64(1)
    for direction in range(4):
        if state.codes[other, cell] >> (4 * direction) & 15 == FIVE:
            end = only_free_end(state, tables, cell, int64(direction), int64(other))
            if end >= 0:
                state.moves[ply, count] = end
                count += 1
    return count


@jit(int64(STATE_TYPE, TABLES_TYPE, int64))
def add_forced_replies(state: np.record, tables: np.record, ply: int) -> int:
    """Generate the replies to the opponent's fours and open threes; 0 if there are none.

    Where he threatens a five that is one cell, and where fives can be blocked at their ends a few;
    a second one can't be stopped either way. If all replies are forbidden the position is lost, and
    any move stands for them.
    """
    other = 1 - state.side
    if state.counts[other, WIN] > 0:
        cell = first_cell(state, tables, other, KIND_FIVE)
        if tables.has_blocks != 0:
            return add_blocks(state, tables, ply, cell)
        state.moves[ply, 0] = cell
        if may_play(state, tables, cell) != 0:
            return 1
        return min(add_candidates(state, tables, ply), 1)
    if state.counts[other, TWO_FOURS] > 0 and tables.has_blocks == 0:
        count = add_defences(state, tables, ply)
        return count if count > 0 else min(add_candidates(state, tables, ply), 1)
    return 0

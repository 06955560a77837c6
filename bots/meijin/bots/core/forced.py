"""Immediate wins and forced replies."""

from __future__ import annotations

import numpy as np

from meijin.bots.core.jit import int64, jit
from meijin.bots.core.lookup import KIND_FIVE, TABLES_TYPE
from meijin.bots.core.movegen import add_defences, first_cell, open_four_cell
from meijin.bots.core.shapes import TWO_FOURS, WIN
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


@jit(int64(STATE_TYPE, TABLES_TYPE, int64))
def add_forced_replies(state: np.record, tables: np.record, ply: int) -> int:
    """Generate the replies to the opponent's fours and open threes; 0 if there are none.

    Where he threatens a five that is one cell: a second one can't be stopped either way.
    """
    other = 1 - state.side
    if state.counts[other, WIN] > 0:
        state.moves[ply, 0] = first_cell(state, tables, other, KIND_FIVE)
        return 1
    if state.counts[other, TWO_FOURS] > 0:
        return add_defences(state, tables, ply)
    return 0

"""Selectivity: how deep and how wide a position is searched."""

from __future__ import annotations

import numpy as np

from meijin.bots.core.evaluate import PROVEN
from meijin.bots.core.jit import int64, jit
from meijin.bots.core.lookup import REDUCTION_ROWS, TABLES_TYPE
from meijin.bots.core.proof import NONE
from meijin.bots.core.shapes import ONE_FOUR, ONE_THREE, TWO_FOURS, WIN
from meijin.bots.core.state import STATE_TYPE

FUTILITY_DEPTH = 3
FUTILITY_MARGIN = 35
"""A position better than beta by as much per ply left is not searched."""
REDUCTION_DEPTH = 3
REDUCTION_NUMBER = 2
"""As many moves of a node are searched to the full depth."""
PRUNING_WIDTH = 4
"""Moves tried outside the principal variation, and one more for each ply left squared."""
UNKNOWN_DEPTH = 4
"""From here on a position without a move in the table is searched a ply less deep."""
FEW_REPLIES = 8
"""If no more moves may stop an open three, the reply costs no depth."""


@jit(int64(STATE_TYPE, int64))
def is_calm(state: np.record, depth: int) -> int:
    """Whether a position with no depth left can be valued as it is: no reply is forced."""
    other = 1 - state.side
    if state.plain != 0:
        return 1
    if state.counts[other, WIN] > 0:
        return 0
    return int64(depth < 0 or state.counts[other, TWO_FOURS] == 0)


@jit(int64(STATE_TYPE, int64))
def is_worse(state: np.record, ply: int) -> int:
    """Whether the side to move stands worse than before its last move, as far as is known."""
    if ply < 2 or state.statics[ply] == NONE:  # noqa: PLR2004 - a move of each side
        return 0
    return int64(state.statics[ply] < state.statics[ply - 2])


@jit(int64(STATE_TYPE, int64, int64, int64))
def width(state: np.record, depth: int, is_pv: int, worse: int) -> int:
    """How many of a position's moves are tried."""
    if is_pv != 0 or state.use_reductions == 0:
        return state.width
    moves = PRUNING_WIDTH + depth * depth
    return min(state.width, moves * 2 // 3 if worse != 0 else moves)


@jit(int64(STATE_TYPE, int64, int64))
def is_unknown(state: np.record, favourite: int, depth: int) -> int:
    """Whether there is no move to begin with, so that a full search costs too much."""
    if favourite >= 0 or state.use_reductions == 0 or state.counts[1 - state.side, WIN] > 0:
        return 0
    return int64(depth >= UNKNOWN_DEPTH)


@jit(int64(STATE_TYPE, TABLES_TYPE, int64, int64, int64, int64))
def reduction(
    state: np.record, tables: np.record, move: int, depth: int, number: int, more: int
) -> int:
    """How many plies less a late and quiet move is searched at first, with `more` added."""
    if state.use_reductions == 0 or depth < REDUCTION_DEPTH or number < REDUCTION_NUMBER:
        return 0
    side = state.side
    if tables.threats[state.codes[side, move]] >= ONE_THREE:
        return 0
    if tables.threats[state.codes[1 - side, move]] >= ONE_FOUR:
        return 0
    plies = tables.reductions[min(depth, REDUCTION_ROWS - 1), min(number, REDUCTION_ROWS - 1)]
    return min(max(plies + more, int64(0)), depth - 2)


@jit(int64(STATE_TYPE, int64, int64, int64))
def is_futile(state: np.record, beta: int, depth: int, ply: int) -> int:
    """Whether a position is better than beta by so much that the opponent avoids it."""
    if state.use_futility == 0 or depth > FUTILITY_DEPTH or abs(beta) >= PROVEN:
        return 0
    if state.counts[1 - state.side, TWO_FOURS] > 0:
        return 0
    return int64(state.statics[ply] - FUTILITY_MARGIN * depth >= beta)


@jit(int64(STATE_TYPE, TABLES_TYPE, int64, int64))
def price(state: np.record, tables: np.record, move: int, count: int) -> int:
    """The plies of depth that a move costs: none where it is one of few replies.

    Fours between a three and the reply to it do cost theirs, or they would not end.
    """
    other = 1 - state.side
    if state.plain != 0:
        return 1
    if state.counts[other, WIN] > 0:
        return 0
    if state.counts[other, TWO_FOURS] == 0 or count > FEW_REPLIES:
        return 1
    return int64(tables.threats[state.codes[state.side, move]] >= ONE_FOUR)

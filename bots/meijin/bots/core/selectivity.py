"""Selectivity: reductions, pruning and extensions, that is how deep and wide a node is searched."""

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
"""Reverse futility: a position better than beta by as much per ply left is not searched."""
LMR_DEPTH = 3
LMR_FIRST_MOVE = 2
"""Late move reductions spare the first moves of a node, as many as this."""
LMP_MOVES = 4
"""Late move pruning: moves tried outside the principal variation, besides depth squared."""
IIR_DEPTH = 4
"""Internal iterative reduction: from here on a node without a table move loses a ply."""
FEW_REPLIES = 8
"""If no more moves may stop an open three, the reply costs no depth."""


@jit(int64(STATE_TYPE, int64))
def is_quiescent(state: np.record, depth: int) -> int:
    """Quiescence: whether the static evaluation holds with no depth left; no reply is forced."""
    other = 1 - state.side
    if state.plain != 0:
        return 1
    if state.counts[other, WIN] > 0:
        return 0
    return int64(depth < 0 or state.counts[other, TWO_FOURS] == 0)


@jit(int64(STATE_TYPE, int64))
def is_worsening(state: np.record, ply: int) -> int:
    """Whether the static evaluation has fallen since the mover's last turn, where known."""
    if ply < 2 or state.static_evals[ply] == NONE:  # noqa: PLR2004 - a move of each side
        return 0
    return int64(state.static_evals[ply] < state.static_evals[ply - 2])


@jit(int64(STATE_TYPE, int64, int64, int64))
def move_count_limit(state: np.record, depth: int, is_pv: int, worsening: int) -> int:
    """Late move pruning: how many of a node's moves are tried."""
    if is_pv != 0 or state.use_reductions == 0:
        return state.width
    moves = LMP_MOVES + depth * depth
    return min(state.width, moves * 2 // 3 if worsening != 0 else moves)


@jit(int64(STATE_TYPE, int64, int64))
def internal_iterative_reduction(state: np.record, tt_move: int, depth: int) -> int:
    """The ply that a node without a table move is searched less deep, or 0."""
    if tt_move >= 0 or state.use_reductions == 0 or state.counts[1 - state.side, WIN] > 0:
        return 0
    return int64(depth >= IIR_DEPTH)


@jit(int64(STATE_TYPE, TABLES_TYPE, int64, int64, int64, int64))
def late_move_reduction(
    state: np.record, tables: np.record, move: int, depth: int, number: int, more: int
) -> int:
    """Late move reduction: the plies that a late and quiet move loses, with `more` added."""
    if state.use_reductions == 0 or depth < LMR_DEPTH or number < LMR_FIRST_MOVE:
        return 0
    side = state.side
    if tables.threats[state.codes[side, move]] >= ONE_THREE:
        return 0
    if tables.threats[state.codes[1 - side, move]] >= ONE_FOUR:
        return 0
    plies = tables.reductions[min(depth, REDUCTION_ROWS - 1), min(number, REDUCTION_ROWS - 1)]
    return min(max(plies + more, int64(0)), depth - 2)


@jit(int64(STATE_TYPE, int64, int64, int64))
def is_reverse_futile(state: np.record, beta: int, depth: int, ply: int) -> int:
    """Reverse futility: whether the static evaluation is above beta by a margin."""
    if state.use_futility == 0 or depth > FUTILITY_DEPTH or abs(beta) >= PROVEN:
        return 0
    if state.counts[1 - state.side, TWO_FOURS] > 0:
        return 0
    return int64(state.static_evals[ply] - FUTILITY_MARGIN * depth >= beta)


@jit(int64(STATE_TYPE, TABLES_TYPE, int64, int64))
def depth_cost(state: np.record, tables: np.record, move: int, count: int) -> int:
    """The plies of depth that a move costs: none where it is one of few replies (extension).

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

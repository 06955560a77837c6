"""Scores that are proven without looking at quiet moves."""

from __future__ import annotations

import numpy as np

from meijin.bots.core.evaluate import WIN_SCORE, evaluate
from meijin.bots.core.forced import FIVE_PLIES, cell_at_hand, plies_at_hand
from meijin.bots.core.jit import int64, jit
from meijin.bots.core.lookup import TABLES_TYPE
from meijin.bots.core.shapes import (
    FOUR_AND_THREE,
    FOUR_AND_TWO,
    ONE_THREE,
    THREE_AND_TWO,
    TWO_FOURS,
    TWO_THREES,
)
from meijin.bots.core.state import PLIES, STATE_TYPE
from meijin.bots.core.threats import find_vcf, has_four
from meijin.bots.core.vct import find_vct

NONE = -(1 << 40)
"""No score: less than any."""
ROOT_VCF_NODES = 2_000
INNER_VCF_NODES = 60
LEAF_VCF_NODES = 16
VCT_PLY = 1
"""Positions further from the root are not searched for threes."""
VCT_DEPTH = 4
"""Nor those with fewer plies left, but for the root, which is once."""
VCT_THREATS = 8
ROOT_VCT_NODES = 3_000
INNER_VCT_NODES = 500


@jit(int64(STATE_TYPE, int64, int64))
def prove(state: np.record, cell: int, ply: int) -> int:
    """Make `cell` the line expected at `ply`."""
    state.pv[ply, 0] = cell
    state.pv_length[ply] = 1
    return cell


@jit(int64(STATE_TYPE, int64, int64))
def prove_by_vcf(state: np.record, plies: int, ply: int) -> int:
    """Make the VCF just found the line expected at `ply`, and return its score."""
    for at in range(state.vcf_length):
        state.pv[ply, at] = state.vcf_line[at]
    state.pv_length[ply] = state.vcf_length
    return WIN_SCORE - ply - plies


@jit(int64(STATE_TYPE, TABLES_TYPE, int64))
def judge(state: np.record, tables: np.record, ply: int) -> int:
    """The score where it is plain without a search, else `NONE`."""
    plies = plies_at_hand(state)
    if plies == FIVE_PLIES or (plies > 0 and state.plain == 0):
        prove(state, cell_at_hand(state, tables, plies), ply)
        return WIN_SCORE - ply - plies
    if state.empties == 0:
        return 0
    if ply >= PLIES - 1:
        return evaluate(state, tables)
    return NONE


@jit(int64(STATE_TYPE, int64))
def is_promising(state: np.record, depth: int) -> int:
    """Whether a four leads to more; others win too rarely for what they cost."""
    side = state.side
    if state.counts[side, FOUR_AND_THREE] > 0:
        return 1
    return int64(depth > 0 and state.counts[side, FOUR_AND_TWO] > 1)


@jit(int64(STATE_TYPE, TABLES_TYPE, int64, int64))
def judge_fours(state: np.record, tables: np.record, depth: int, ply: int) -> int:
    """The score of a win by fours, or `NONE` if none is found."""
    if state.use_vcf == 0 or has_four(state, state.side) == 0:
        return NONE
    if ply > 0 and is_promising(state, depth) == 0:
        return NONE
    limit = INNER_VCF_NODES if depth > 0 else LEAF_VCF_NODES
    if ply == 0:
        limit = ROOT_VCF_NODES
    plies = find_vcf(state, tables, int64(limit))
    if plies == 0:
        return NONE
    return prove_by_vcf(state, plies, ply)


@jit(int64(STATE_TYPE, TABLES_TYPE, int64, int64))
def judge_threats(state: np.record, tables: np.record, depth: int, ply: int) -> int:
    """The score of a win by fours and threes, or `NONE` if none is found."""
    side = state.side
    if state.use_vct == 0 or state.counts[1 - side, TWO_FOURS] > 0:
        return NONE
    if ply > VCT_PLY or (ply > 0 and depth < VCT_DEPTH) or (ply == 0 and depth > 1):
        return NONE
    threes = state.counts[side, TWO_THREES] + state.counts[side, THREE_AND_TWO]
    if threes + state.counts[side, ONE_THREE] + has_four(state, side) == 0:
        return NONE
    limit = ROOT_VCT_NODES if ply == 0 else INNER_VCT_NODES
    plies = find_vct(state, tables, int64(VCT_THREATS), int64(limit))
    if plies == 0:
        return NONE
    for at in range(state.vct_lengths[0]):
        state.pv[ply, at] = state.vct_lines[0, at]
    state.pv_length[ply] = state.vct_lengths[0]
    return WIN_SCORE - ply - plies

"""Proven scores: ends of games, and wins by immediate threats, VCF or VCT."""

from __future__ import annotations

import numpy as np

from meijin.bots.core.evaluate import WIN_SCORE, evaluate
from meijin.bots.core.forced import FIVE_PLIES, immediate_win_cell, immediate_win_plies
from meijin.bots.core.jit import int64, jit
from meijin.bots.core.lookup import TABLES_TYPE
from meijin.bots.core.shapes import TWO_FOURS
from meijin.bots.core.state import PLIES, STATE_TYPE
from meijin.bots.core.vcf import find_vcf, has_four
from meijin.bots.core.vct import find_vct

NONE = -(1 << 40)
"""No score: less than any."""
ROOT_VCF_NODES = 2_000
INNER_VCF_NODES = 200
VCT_THREATS = 12
VCT_NODES = 300
VCT_SHARE = 20
"""The VCT search may take one node in as many."""


@jit(int64(STATE_TYPE, int64, int64))
def set_pv(state: np.record, cell: int, ply: int) -> int:
    """Make `cell` alone the principal variation at `ply`."""
    state.pv[ply, 0] = cell
    state.pv_length[ply] = 1
    return cell


@jit(int64(STATE_TYPE, int64, int64))
def set_vcf_pv(state: np.record, plies: int, ply: int) -> int:
    """Make the VCF just found the principal variation at `ply`, and return its score."""
    for at in range(state.vcf_length):
        state.pv[ply, at] = state.vcf_line[at]
    state.pv_length[ply] = state.vcf_length
    return WIN_SCORE - ply - plies


@jit(int64(STATE_TYPE, TABLES_TYPE, int64))
def static_result(state: np.record, tables: np.record, ply: int) -> int:
    """The score of an end, an immediate win or the deepest ply, else `NONE`."""
    plies = immediate_win_plies(state)
    if plies == FIVE_PLIES or (plies > 0 and state.plain == 0):
        set_pv(state, immediate_win_cell(state, tables, plies), ply)
        return WIN_SCORE - ply - plies
    if state.empties == 0:
        return 0
    if ply >= PLIES - 1:
        return evaluate(state, tables)
    return NONE


@jit(int64(STATE_TYPE, TABLES_TYPE, int64))
def vcf_score(state: np.record, tables: np.record, ply: int) -> int:
    """The score of a VCF, a win by fours, or `NONE` if none is found."""
    if state.use_vcf == 0 or has_four(state, state.side) == 0:
        return NONE
    limit = ROOT_VCF_NODES if ply == 0 else INNER_VCF_NODES
    plies = find_vcf(state, tables, int64(limit))
    if plies == 0:
        return NONE
    return set_vcf_pv(state, plies, ply)


@jit(int64(STATE_TYPE, TABLES_TYPE))
def root_vct_score(state: np.record, tables: np.record) -> int:
    """The score at the root of a VCT, a win by fours and threes, or `NONE` if none is found.

    Each iteration looks further, for a share of the nodes spent so far.
    """
    side = state.side
    if state.use_vct == 0 or state.counts[1 - side, TWO_FOURS] > 0:
        return NONE
    limit = VCT_NODES + state.nodes // VCT_SHARE
    plies = find_vct(state, tables, int64(VCT_THREATS), int64(limit))
    if plies == 0:
        return NONE
    for at in range(state.vct_lengths[0]):
        state.pv[0, at] = state.vct_lines[0, at]
    state.pv_length[0] = state.vct_lengths[0]
    return WIN_SCORE - plies

"""VCT: a win by fours and open threes, against every defence that could matter."""

from __future__ import annotations

import numpy as np

from meijin.bots.core.jit import int64, jit, uint64, void
from meijin.bots.core.lookup import KIND_FIVE, KIND_FOUR, KIND_THREE, TABLES_TYPE
from meijin.bots.core.movegen import first_cell, lowest, open_four_cell
from meijin.bots.core.shapes import ONE_THREE, TWO_FOURS, WIN
from meijin.bots.core.state import LINE, SEEN, STATE_TYPE, VCT_PLIES, make, undo
from meijin.bots.core.threats import find_vcf

ATTACK, DEFENCE = 1, 0
FOURS, STRONG_THREES, THREES = range(3)
"""The order in which threats are tried."""
VCF_NODES = 40
"""For the look for fours at each of the attacker's turns."""


@jit(void(STATE_TYPE, int64, int64))
def lead(state: np.record, ply: int, cell: int) -> None:
    """Put `cell` in front of the line found from the next ply on."""
    length = min(state.vct_lengths[ply + 1], LINE - 1)
    state.vct_lines[ply, 0] = cell
    for at in range(length):
        state.vct_lines[ply, at + 1] = state.vct_lines[ply + 1, at]
    state.vct_lengths[ply] = length + 1


@jit(int64(STATE_TYPE, TABLES_TYPE, int64))
def win_by_fours(state: np.record, tables: np.record, ply: int) -> int:
    """The plies in which the attacker, to move, wins without threes, or 0."""
    side = state.side
    state.vct_lengths[ply + 1] = 0
    if state.counts[side, WIN] > 0:
        lead(state, ply, first_cell(state, tables, side, KIND_FIVE))
        return 1
    if state.counts[1 - side, WIN] == 0 and state.counts[side, TWO_FOURS] > 0:
        lead(state, ply, open_four_cell(state, tables, side))
        return 3
    plies = find_vcf(state, tables, int64(VCF_NODES))
    if plies > 0:
        state.vct_lengths[ply] = state.vcf_length
        for at in range(state.vcf_length):
            state.vct_lines[ply, at] = state.vcf_line[at]
    return plies


@jit(int64(STATE_TYPE, TABLES_TYPE, int64, int64))
def is_threat(state: np.record, tables: np.record, cell: int, stage: int) -> int:
    """Whether a threat is to be tried at this stage."""
    if stage == FOURS:
        return 1
    threat = tables.threats[state.codes[state.side, cell]]
    return int64((threat == ONE_THREE) == (stage == THREES))


@jit(int64(STATE_TYPE, int64))
def is_too_slow(state: np.record, attacker: int) -> int:
    """Whether the defender, to move, is faster than the attacker's threats."""
    if state.counts[attacker, WIN] > 0:
        return int64(state.counts[1 - attacker, WIN] > 0)
    defender = 1 - attacker
    return int64(state.counts[defender, WIN] + state.counts[defender, TWO_FOURS] > 0)


@jit(int64(STATE_TYPE, TABLES_TYPE, int64, int64, int64))
def vct(state: np.record, tables: np.record, turn: int, depth: int, ply: int) -> int:
    """The plies in which the attacker wins, or 0; ``vct_lines[ply]`` is how.

    `turn` says whether the attacker is to move; `depth` is how many threats it may make.
    A defence is a four, or a cell where the attacker would make a four: no other can stop
    a five or an open four.
    """
    state.vct_nodes += 1
    state.nodes += 1
    state.vct_lengths[ply] = 0
    if ply >= VCT_PLIES - 2 or state.vct_nodes > state.vct_limit or state.stop != 0:
        return 0
    side = state.side
    if turn == DEFENCE:
        attacker = 1 - side
        if is_too_slow(state, attacker) != 0:
            return 0
        if state.counts[attacker, WIN] > 1:
            return 2
        if state.counts[attacker, WIN] == 1:
            cell = first_cell(state, tables, attacker, KIND_FIVE)
            make(state, tables, cell)
            plies = vct(state, tables, int64(ATTACK), int64(depth), int64(ply + 1))
            undo(state, tables)
            if plies == 0:
                return 0
            lead(state, ply, cell)
            return plies + 1
        if state.counts[attacker, TWO_FOURS] == 0:
            return 0
        longest = int64(4)
        for row in range(tables.height):
            mask = state.masks[0, KIND_FOUR, row] | state.masks[1, KIND_FOUR, row]
            while mask != 0:
                cell = row * tables.width + lowest(mask)
                mask &= mask - 1
                make(state, tables, cell)
                plies = vct(state, tables, int64(ATTACK), int64(depth), int64(ply + 1))
                undo(state, tables)
                if plies == 0:
                    return 0
                if plies + 1 >= longest:
                    longest = plies + 1
                    lead(state, ply, cell)
        return longest
    plies = win_by_fours(state, tables, ply)
    if plies > 0:
        return plies
    blocks = state.counts[1 - side, WIN]
    if blocks > 1:
        return 0
    if blocks == 1:
        cell = first_cell(state, tables, 1 - side, KIND_FIVE)
        make(state, tables, cell)
        plies = vct(state, tables, int64(DEFENCE), int64(depth), int64(ply + 1))
        undo(state, tables)
        if plies == 0:
            return 0
        lead(state, ply, cell)
        return plies + 1
    if depth <= 0:
        return 0
    key = state.hash ^ tables.turn[side] ^ tables.zobrist[side, depth]
    if state.vct_seen[int64(key & uint64(SEEN - 1))] == key:
        return 0
    for stage in range(3):
        kind = KIND_FOUR if stage == FOURS else KIND_THREE
        for row in range(tables.height):
            mask = state.masks[side, kind, row]
            while mask != 0:
                cell = row * tables.width + lowest(mask)
                mask &= mask - 1
                if is_threat(state, tables, cell, int64(stage)) != 0:
                    make(state, tables, cell)
                    plies = vct(state, tables, int64(DEFENCE), int64(depth - 1), int64(ply + 1))
                    undo(state, tables)
                    if plies > 0:
                        lead(state, ply, cell)
                        return plies + 1
                    if state.vct_nodes > state.vct_limit:
                        return 0
    if state.stop == 0:
        state.vct_seen[int64(key & uint64(SEEN - 1))] = key
    return 0


@jit(int64(STATE_TYPE, TABLES_TYPE, int64, int64))
def find_vct(state: np.record, tables: np.record, deepest: int, limit: int) -> int:
    """The plies in which the side to move wins by threats, or 0; ``vct_lines[0]`` is how.

    It tries one threat, then two, up to `deepest`, in at most `limit` nodes.
    """
    state.vct_nodes = 0
    state.vct_limit = limit
    for depth in range(1, deepest + 1):
        plies = vct(state, tables, int64(ATTACK), int64(depth), int64(0))
        if plies > 0:
            return plies
        if state.vct_nodes > limit or state.stop != 0:
            return 0
    return 0

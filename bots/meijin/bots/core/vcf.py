"""VCF (victory by continuous fours): each four leaves the opponent one reply."""

from __future__ import annotations

import numpy as np

from meijin.bots.core.bits import lowest_bit
from meijin.bots.core.forced import OPEN_FOUR_PLIES, immediate_win_cell, immediate_win_plies
from meijin.bots.core.fouls import may_play
from meijin.bots.core.jit import int64, jit, uint64, void
from meijin.bots.core.lookup import KIND_FIVE, KIND_FOUR, TABLES_TYPE
from meijin.bots.core.movegen import first_cell
from meijin.bots.core.shapes import FOUR_AND_MORE, ONE_FOUR, WIN
from meijin.bots.core.state import LINE, SEEN, STATE_TYPE, make, undo


@jit(int64(STATE_TYPE, int64))
def has_four(state: np.record, color: int) -> int:
    """Whether `color` can make a four somewhere; more than 0 is yes."""
    fours = int64(0)
    for threat in range(ONE_FOUR, WIN):
        fours += state.counts[color, threat]
    return fours


@jit(int64(STATE_TYPE, TABLES_TYPE, int64, int64, int64))
def is_four_to_try(state: np.record, tables: np.record, cell: int, only: int, late: int) -> int:
    """Whether an own four is to be tried now: the promising first, the rest `late`."""
    if only >= 0 and cell != only:
        return 0
    threat = tables.threats[state.codes[state.side, cell]]
    return int64((threat < FOUR_AND_MORE) == (late != 0))


@jit(void(STATE_TYPE, int64, int64))
def end_vcf(state: np.record, ply: int, cell: int) -> None:
    """Write the last cell of a winning line."""
    state.vcf_line[ply] = cell
    state.vcf_length = ply + 1


@jit(int64(STATE_TYPE, TABLES_TYPE, int64))
def vcf(state: np.record, tables: np.record, ply: int) -> int:
    """The plies in which the side to move wins by fours, or 0; `vcf_line` is how.

    It ends without a win after `vcf_limit` nodes. `ply` is 0 for the caller.
    """
    side = state.side
    state.vcf_nodes += 1
    state.nodes += 1
    plies = immediate_win_plies(state)
    if plies > 0:
        end_vcf(state, ply, immediate_win_cell(state, tables, plies))
        return plies
    blocks = state.counts[1 - side, WIN]
    if blocks > 1 or ply >= LINE - 4 or state.vcf_nodes > state.vcf_limit or state.stop != 0:
        return 0
    key = state.hash ^ tables.turn[side]
    if has_four(state, side) == 0 or state.vcf_seen[int64(key & uint64(SEEN - 1))] == key:
        return 0
    only = int64(-1)
    if blocks > 0:
        only = first_cell(state, tables, 1 - side, KIND_FIVE)
    for late in range(2):
        for row in range(tables.height):
            mask = state.masks[side, KIND_FOUR, row]
            while mask != 0:
                cell = row * tables.width + lowest_bit(mask)
                mask &= mask - 1
                if is_four_to_try(state, tables, cell, only, late) != 0:
                    make(state, tables, cell)
                    reply = first_cell(state, tables, side, KIND_FIVE)
                    if may_play(state, tables, reply) == 0:
                        undo(state, tables)
                        end_vcf(state, ply, cell)
                        return OPEN_FOUR_PLIES
                    make(state, tables, reply)
                    plies = vcf(state, tables, int64(ply + 2))
                    undo(state, tables)
                    undo(state, tables)
                    if plies > 0:
                        state.vcf_line[ply] = cell
                        state.vcf_line[ply + 1] = reply
                        return plies + 2
                    if state.vcf_nodes > state.vcf_limit:
                        return 0
    if state.vcf_nodes <= state.vcf_limit and state.stop == 0:
        state.vcf_seen[int64(key & uint64(SEEN - 1))] = key
    return 0


@jit(int64(STATE_TYPE, TABLES_TYPE, int64))
def find_vcf(state: np.record, tables: np.record, limit: int) -> int:
    """The plies in which the side to move wins by fours, or 0, in at most `limit` nodes.

    Where a five may be stopped at its ends a four leaves more than one reply: none is looked for.
    """
    state.vcf_length = 0
    if has_four(state, state.side) == 0 or tables.has_blocks != 0:
        return 0
    state.vcf_nodes = 0
    state.vcf_limit = limit
    return vcf(state, tables, int64(0))

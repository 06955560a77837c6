"""Threats: immediate wins, forced replies, and wins by fours (VCF, victory by continuous fours)."""

from __future__ import annotations

import numpy as np

from meijin.bots.core.fouls import may_play
from meijin.bots.core.jit import int64, jit, lowest_bit, uint64, void
from meijin.bots.core.lookup import KIND_FIVE, KIND_FOUR, TABLES_TYPE
from meijin.bots.core.movegen import add_candidates, add_defences, first_cell, open_four_cell
from meijin.bots.core.network import evaluate
from meijin.bots.core.shapes import FIVE, FOUR_AND_MORE, ONE_FOUR, TWO_FOURS, WIN
from meijin.bots.core.state import LINE, PLIES, SEEN, STATE_TYPE, make, undo
from meijin.game.records.chances import WIN_SCORE

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


NONE = -(1 << 40)
"""No score: less than any."""
ROOT_VCF_NODES = 2_000
INNER_VCF_NODES = 200


@jit(int64(STATE_TYPE, int64, int64))
def set_pv(state: np.record, cell: int, ply: int) -> int:
    """Make `cell` alone the principal variation at `ply`."""
    state.pv[ply, 0] = cell
    state.pv_length[ply] = 1
    return cell


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
    for at in range(state.vcf_length):
        state.pv[ply, at] = state.vcf_line[at]
    state.pv_length[ply] = state.vcf_length
    return WIN_SCORE - ply - plies

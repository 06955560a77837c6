"""VCT (victory by continuous threats): fours and open threes, against every useful defence."""

from __future__ import annotations

import numpy as np

from meijin.bots.core.forced import add_forced_replies, immediate_win_cell, immediate_win_plies
from meijin.bots.core.jit import int64, jit, uint64, void
from meijin.bots.core.lookup import KIND_FOUR, KIND_THREE, TABLES_TYPE
from meijin.bots.core.movegen import add_row
from meijin.bots.core.shapes import ONE_THREE, TWO_FOURS, WIN
from meijin.bots.core.state import LINE, PLIES, SEEN, STATE_TYPE, VCT_PLIES, make, undo
from meijin.bots.core.vcf import find_vcf

ATTACK, DEFENCE = 1, 0
VCF_NODES = 40
"""For the look for fours at each of the attacker's turns."""
MOVES = PLIES - VCT_PLIES
"""Where in `moves` the lists of this search begin; its caller is nearer to the root."""


@jit(void(STATE_TYPE, int64, int64))
def extend_vct_line(state: np.record, ply: int, cell: int) -> None:
    """Set the winning line at `ply`: `cell` and the one of the next ply."""
    length = min(state.vct_lengths[ply + 1], LINE - 1)
    state.vct_lines[ply, 0] = cell
    for at in range(length):
        state.vct_lines[ply, at + 1] = state.vct_lines[ply + 1, at]
    state.vct_lengths[ply] = length + 1


@jit(int64(STATE_TYPE, TABLES_TYPE, int64))
def win_by_fours(state: np.record, tables: np.record, ply: int) -> int:
    """The plies in which the attacker, to move, wins without threes, or 0."""
    plies = immediate_win_plies(state)
    if plies > 0:
        state.vct_lengths[ply + 1] = 0
        extend_vct_line(state, ply, immediate_win_cell(state, tables, plies))
        return plies
    plies = find_vcf(state, tables, int64(VCF_NODES))
    if plies > 0:
        state.vct_lengths[ply] = state.vcf_length
        for at in range(state.vcf_length):
            state.vct_lines[ply, at] = state.vcf_line[at]
    return plies


@jit(int64(STATE_TYPE, TABLES_TYPE, int64))
def add_threats(state: np.record, tables: np.record, at: int) -> int:
    """List the fours, then the threes that make something else as well, then the others."""
    side = state.side
    count = 0
    for row in range(tables.height):
        count = add_row(state, tables, at, count, row, state.masks[side, KIND_FOUR, row])
    strong = count
    for row in range(tables.height):
        count = add_row(state, tables, at, count, row, state.masks[side, KIND_THREE, row])
    for number in range(strong, count):
        cell = state.moves[at, number]
        if tables.threats[state.codes[side, cell]] > ONE_THREE:
            state.moves[at, number] = state.moves[at, strong]
            state.moves[at, strong] = cell
            strong += 1
    return count


@jit(int64(STATE_TYPE))
def is_parried(state: np.record) -> int:
    """Whether the attacker threatens nothing, or the defender, to move, is faster."""
    defender = state.side
    attacker = 1 - defender
    if state.counts[defender, WIN] > 0:
        return 1
    if state.counts[attacker, WIN] > 0:
        return 0
    fours = state.counts[attacker, TWO_FOURS]
    return int64(state.counts[defender, TWO_FOURS] > 0 or fours == 0)


@jit(int64(STATE_TYPE, TABLES_TYPE, int64, int64))
def attack(state: np.record, tables: np.record, depth: int, ply: int) -> int:
    """List what the attacker may try; the plies of a win that needs no threes, or 0."""
    plies = win_by_fours(state, tables, ply)
    if plies > 0:
        return plies
    if state.counts[1 - state.side, WIN] > 0:
        state.move_counts[MOVES + ply] = add_forced_replies(state, tables, int64(MOVES + ply))
    elif depth > 0:
        state.move_counts[MOVES + ply] = add_threats(state, tables, int64(MOVES + ply))
    return 0


@jit(int64(STATE_TYPE, TABLES_TYPE, int64))
def defend(state: np.record, tables: np.record, ply: int) -> int:
    """List the replies to a threat, unless it is parried; 2 if there is no help, or 0.

    A defence is a four, or a cell where the attacker would make a four: no other can stop
    a five or an open four.
    """
    if is_parried(state) != 0:
        return 0
    if state.counts[1 - state.side, WIN] > 1:
        return 2
    state.move_counts[MOVES + ply] = add_forced_replies(state, tables, int64(MOVES + ply))
    return 0


@jit(int64(STATE_TYPE, TABLES_TYPE, int64, int64, int64))
def vct(state: np.record, tables: np.record, turn: int, depth: int, ply: int) -> int:
    """The plies in which the attacker wins, or 0; ``vct_lines[ply]`` is how.

    `turn` says whether the attacker is to move; `depth` is how many threats it may make,
    where blocks of the opponent's fours don't count.
    """
    state.vct_nodes += 1
    state.nodes += 1
    state.vct_lengths[ply] = 0
    state.move_counts[MOVES + ply] = 0
    if ply >= VCT_PLIES - 2 or state.vct_nodes > state.vct_limit or state.stop != 0:
        return 0
    key = state.hash ^ tables.turn[state.side] ^ tables.zobrist[state.side, depth]
    if turn == ATTACK and state.vct_seen[int64(key & uint64(SEEN - 1))] == key:
        return 0
    longest = attack(state, tables, depth, ply) if turn == ATTACK else defend(state, tables, ply)
    left = depth
    if turn == ATTACK and state.counts[1 - state.side, WIN] == 0:
        left -= 1
    for number in range(state.move_counts[MOVES + ply]):
        cell = state.moves[MOVES + ply, number]
        make(state, tables, cell)
        plies = vct(state, tables, int64(1 - turn), int64(left), int64(ply + 1))
        undo(state, tables)
        if plies == 0 and turn == DEFENCE:
            return 0
        if plies > 0 and plies >= longest:
            longest = plies + 1
            extend_vct_line(state, ply, cell)
        if turn == ATTACK and (plies > 0 or state.vct_nodes > state.vct_limit):
            return longest
    if turn == ATTACK and longest == 0 and state.stop == 0:
        state.vct_seen[int64(key & uint64(SEEN - 1))] = key
    return longest


@jit(int64(STATE_TYPE, TABLES_TYPE, int64, int64))
def find_vct(state: np.record, tables: np.record, deepest: int, limit: int) -> int:
    """The plies in which the side to move wins by threats, or 0; ``vct_lines[0]`` is how.

    It tries one threat, then two, up to `deepest`, in at most `limit` nodes; none where a five
    may be stopped at its ends, for then a threat has other replies.
    """
    state.vct_nodes = 0
    state.vct_limit = limit
    if tables.has_blocks != 0:
        return 0
    for depth in range(1, deepest + 1):
        plies = vct(state, tables, int64(ATTACK), int64(depth), int64(0))
        if plies > 0:
            return plies
        if state.vct_nodes > limit or state.stop != 0:
            return 0
    return 0

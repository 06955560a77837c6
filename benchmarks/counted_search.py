"""Minimax and alpha-beta of a fixed depth on the core's state, which count what they visit.

A five is worth a win, everything else what the core's evaluation says; no move is forced, and no
line is searched deeper than the others. All of them find the same value.
"""

import numpy as np

from meijin.bots.core.jit import int64, jit, record_type, uint64, void
from meijin.bots.core.lookup import TABLES_TYPE
from meijin.bots.core.movegen import add_candidates, add_row, pick_move, score_moves
from meijin.bots.core.network import evaluate
from meijin.bots.core.shapes import WIN
from meijin.bots.core.state import OCCUPIED_MARGIN, STATE_TYPE, make, undo
from meijin.bots.core.transposition import (
    EXACT,
    LOWER,
    TABLE_TYPE,
    UPPER,
    Table,
    count_from,
    probe,
    store,
)
from meijin.game.records.chances import WIN_SCORE

SCAN, RANDOM, POLICY = range(3)
"""The orders: row by row; drawn at each position; by the policy scores of the network."""
NONE = -(1 << 40)
"""No score: less than any."""

TALLY = np.dtype(
    [
        ("wide", np.int64),  # 1 to try every empty cell, 0 for those near stones
        ("order", np.int64),
        ("seed", np.uint64),  # of `RANDOM`
        ("use_table", np.int64),
        ("tt_move", np.int64),  # the table's move for the position just entered, or -1
        ("nodes", np.int64),  # positions visited, the first included
        ("leaves", np.int64),  # those of them that were evaluated
    ],
    align=True,
)
"""How to search, and what it has cost."""
TALLY_TYPE = record_type(TALLY)


@jit(int64(STATE_TYPE, TABLES_TYPE, int64))
def add_empty(state: np.record, tables: np.record, ply: int) -> int:
    """List every empty cell as a move of `ply`, and return how many there are."""
    count = 0
    full = (1 << tables.width) - 1
    for row in range(tables.height):
        mask = full & ~state.occupied[row + OCCUPIED_MARGIN]
        count = add_row(state, tables, ply, count, row, mask)
    return count


@jit(void(STATE_TYPE, uint64, int64, int64))
def shuffle(state: np.record, seed: int, ply: int, count: int) -> None:
    """Score the moves of `ply` by a hash of the position (SplitMix64, Steele et al. 2014)."""
    for number in range(count):
        key = state.hash + seed + uint64(state.moves[ply, number] + 1) * uint64(0x9E3779B97F4A7C15)
        key = (key ^ (key >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
        key = (key ^ (key >> uint64(27))) * uint64(0x94D049BB133111EB)
        state.scores[ply, number] = int64(key >> uint64(1))


@jit(int64(STATE_TYPE, TABLES_TYPE, TALLY_TYPE, int64))
def generate_moves(state: np.record, tables: np.record, tally: np.record, ply: int) -> int:
    """List the moves to try and score them for their order; return how many there are."""
    wide = tally.wide != 0
    count = add_empty(state, tables, ply) if wide else add_candidates(state, tables, ply)
    state.move_counts[ply] = count
    if tally.order == RANDOM:
        shuffle(state, tally.seed, ply, count)
    elif tally.order == POLICY:
        score_moves(state, tables, ply, count, tally.tt_move)
    return count


@jit(int64(STATE_TYPE, TALLY_TYPE, int64, int64))
def next_move(state: np.record, tally: np.record, ply: int, number: int) -> int:
    """The move that comes next in the order."""
    if tally.order == SCAN:
        return state.moves[ply, number]
    return pick_move(state, ply, number)


@jit(int64(STATE_TYPE, TABLES_TYPE, TALLY_TYPE, int64))
def leaf_score(state: np.record, tables: np.record, tally: np.record, depth: int) -> int:
    """Count the position; its score where the search ends, else `NONE`."""
    tally.nodes += 1
    if depth > 0 and state.empties > 0:
        return NONE
    tally.leaves += 1
    return evaluate(state, tables) if state.empties > 0 else int64(0)


@jit(int64(STATE_TYPE, TABLES_TYPE, TALLY_TYPE, int64, int64))
def five_score(state: np.record, tables: np.record, tally: np.record, move: int, ply: int) -> int:
    """Count a move that makes a five and return its score, or `NONE` for another move."""
    if tables.threats[state.codes[state.side, move]] != WIN:
        return NONE
    tally.nodes += 1
    tally.leaves += 1
    return WIN_SCORE - ply - 1


@jit(int64(STATE_TYPE, TABLES_TYPE, TALLY_TYPE, int64, int64))
def minimax(state: np.record, tables: np.record, tally: np.record, depth: int, ply: int) -> int:
    """Score the position for the side to move by visiting every other one."""
    score = leaf_score(state, tables, tally, depth)
    if score != NONE:
        return score
    best = int64(NONE)
    for number in range(generate_moves(state, tables, tally, ply)):
        move = next_move(state, tally, ply, number)
        score = five_score(state, tables, tally, move, ply)
        if score == NONE:
            make(state, tables, move)
            score = -minimax(state, tables, tally, int64(depth - 1), int64(ply + 1))
            undo(state, tables)
        best = max(best, score)
    return best


@jit(int64(TALLY_TYPE, TABLE_TYPE, uint64, int64, int64, int64, int64))
def tt_cutoff(
    tally: np.record, table: Table, key: int, alpha: int, beta: int, depth: int, ply: int
) -> int:
    """The score in the table that cuts off, else `NONE`; sets `tt_move`.

    Entries count for their own depth alone, or deeper searches would give other values.
    """
    tally.tt_move = -1
    at = probe(table, key) if tally.use_table != 0 else int64(-1)
    if at < 0:
        return NONE
    tally.tt_move = table[at].move
    if int64(table[at].depth) != depth:
        return NONE
    score = count_from(int64(table[at].score), -ply)
    bound = int64(table[at].bound)
    if bound == EXACT or (bound == LOWER and score >= beta) or (bound == UPPER and score <= alpha):
        return score
    return NONE


@jit(int64(STATE_TYPE, TABLES_TYPE, TALLY_TYPE, TABLE_TYPE, int64, int64, int64, int64))
def alphabeta(
    state: np.record,
    tables: np.record,
    tally: np.record,
    table: Table,
    alpha: int,
    beta: int,
    depth: int,
    ply: int,
) -> int:
    """Score the position for the side to move, as far as `alpha` and `beta` ask."""
    score = leaf_score(state, tables, tally, depth)
    if score != NONE:
        return score
    key = state.hash ^ tables.turn[state.side]
    score = tt_cutoff(tally, table, key, alpha, beta, depth, ply)
    if score != NONE:
        return score
    best, best_move, first_alpha = int64(NONE), int64(-1), alpha
    for number in range(generate_moves(state, tables, tally, ply)):
        move = next_move(state, tally, ply, number)
        score = five_score(state, tables, tally, move, ply)
        if score == NONE:
            make(state, tables, move)
            low, high = int64(-beta), int64(-alpha)
            left = int64(depth - 1)
            score = -alphabeta(state, tables, tally, table, low, high, left, int64(ply + 1))
            undo(state, tables)
        if score > best:
            best, best_move = score, move
        alpha = max(alpha, best)
        if alpha >= beta:
            break
    if tally.use_table != 0:
        bound = LOWER if best >= beta else (EXACT if best > first_alpha else UPPER)
        kept = best_move if best > first_alpha else int64(-1)
        store(table, key, int64(1), count_from(best, ply), kept, depth, int64(bound))
    return best

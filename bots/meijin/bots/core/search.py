"""Alpha-beta search: principal variations, deepened ply by ply."""

from __future__ import annotations

import numpy as np

from meijin.bots.core.evaluate import PROVEN, WIN_SCORE, evaluate
from meijin.bots.core.forced import add_replies
from meijin.bots.core.jit import int64, jit, uint64, void
from meijin.bots.core.lookup import TABLES_TYPE
from meijin.bots.core.movegen import (
    add_candidates,
    forget,
    pick,
    reward,
    score_moves,
)
from meijin.bots.core.proof import NONE, judge, judge_fours, judge_threats, prove
from meijin.bots.core.selectivity import (
    is_calm,
    is_futile,
    is_unknown,
    is_worse,
    price,
    reduction,
    width,
)
from meijin.bots.core.shapes import ONE_FOUR, WIN
from meijin.bots.core.state import LINE, STATE_TYPE, make, undo
from meijin.bots.core.table import (
    EXACT,
    LOWER,
    TABLE_TYPE,
    UPPER,
    Table,
    find,
    from_here,
    from_root,
    store,
)

ASPIRATION = 30
"""Half of the first window around the last iteration's score."""
ASPIRATION_GROWTH = 4
ASPIRATION_LIMIT = 1000
"""A window that has grown so wide is opened altogether."""
FORCED_DEPTH = 6
"""Where only one move is left the search goes no deeper: it tells people the score."""


@jit(void(STATE_TYPE, int64, int64))
def extend_line(state: np.record, move: int, ply: int) -> None:
    """Make `move` and what is expected after it the line expected at `ply`."""
    length = min(state.pv_length[ply + 1], LINE - 1)
    state.pv[ply, 0] = move
    for at in range(length):
        state.pv[ply, at + 1] = state.pv[ply + 1, at]
    state.pv_length[ply] = length + 1


@jit(int64(STATE_TYPE, TABLES_TYPE, int64, int64))
def list_moves(state: np.record, tables: np.record, ply: int, favourite: int) -> int:
    """List and score the moves to try, and return how many there are."""
    count = int64(0)
    if state.plain == 0:
        count = add_replies(state, tables, ply)
    if count == 0:
        count = add_candidates(state, tables, ply)
    score_moves(state, tables, ply, count, favourite)
    return count


@jit(int64(STATE_TYPE, TABLE_TYPE, uint64, int64, int64, int64, int64))
def recall(
    state: np.record, table: Table, key: int, alpha: int, beta: int, depth: int, ply: int
) -> int:
    """The score in the table where it is enough, else `NONE`; sets `favourite`."""
    state.favourite = -1
    if state.use_table == 0:
        return NONE
    at = find(table, key)
    if at < 0:
        return NONE
    state.favourite = table[at].move
    if beta - alpha > 1 or int64(table[at].depth) < depth:
        return NONE
    score = from_root(int64(table[at].score), ply)
    bound = int64(table[at].bound)
    if (bound & LOWER != 0 and score >= beta) or (bound & UPPER != 0 and score <= alpha):
        return score
    return NONE


@jit(int64(STATE_TYPE, TABLES_TYPE, int64, int64, int64, int64))
def settle(state: np.record, tables: np.record, beta: int, depth: int, ply: int, is_pv: int) -> int:
    """The score where the evaluation or a win by threats is enough, else `NONE`.

    Threats are looked at in the principal variation alone: elsewhere their nodes find little
    that a deeper search would not.
    """
    state.statics[ply] = evaluate(state, tables)
    if is_pv == 0:
        return state.statics[ply] if is_futile(state, beta, depth, ply) != 0 else NONE
    score = judge_fours(state, tables, ply)
    if score == NONE and ply == 0:
        score = judge_threats(state, tables)
    return score


@jit(int64(STATE_TYPE))
def is_over(state: np.record) -> int:
    """Whether the search must end; asked at every node."""
    if state.nodes > state.node_limit:
        state.stop = 1
    return state.stop


@jit(void(STATE_TYPE, int64, int64, int64))
def improve(state: np.record, move: int, score: int, ply: int) -> None:
    """Make the best move so far known, as the line and at the root as the result."""
    extend_line(state, move, ply)
    if ply == 0:
        state.root_score = score
        state.root_tried = 1


@jit(void(STATE_TYPE, TABLE_TYPE, uint64, int64, int64, int64, int64))
def remember(
    state: np.record, table: Table, key: int, score: int, move: int, depth: int, bound: int
) -> None:
    """Keep in the table what was found; a move that raised nothing is none."""
    if state.use_table != 0:
        kept = int64(-1) if bound == UPPER else move
        store(table, key, state.age, score, kept, depth, bound)


@jit(int64(STATE_TYPE, TABLES_TYPE, TABLE_TYPE, int64, int64, int64, int64))
def pvs(
    state: np.record,
    tables: np.record,
    table: Table,
    alpha: int,
    beta: int,
    depth: int,
    ply: int,
) -> int:
    """Score the position for the side to move, as far as `alpha` and `beta` ask.

    Forced replies cost no depth; they add none either. The score means nothing once `stop`
    is set.
    """
    state.nodes += 1
    state.pv_length[ply] = 0
    state.statics[ply] = NONE
    state.deepest = max(state.deepest, ply)
    if is_over(state) != 0:
        return 0
    score = judge(state, tables, ply)
    if score != NONE:
        return score
    is_forced = state.plain == 0 and state.counts[1 - state.side, WIN] > 0
    if depth <= 0 and is_calm(state, depth) != 0:
        return evaluate(state, tables)
    is_pv = int64(beta - alpha > 1)
    key = state.hash ^ tables.turn[state.side]
    score = recall(state, table, key, alpha, beta, depth, ply)
    favourite = state.favourite
    if score == NONE and not is_forced:
        score = settle(state, tables, beta, depth, ply, is_pv)
    if score != NONE:
        return score
    if ply == 0 and favourite < 0:
        favourite = state.pv[0, 0]
    depth -= is_unknown(state, favourite, depth)
    count = list_moves(state, tables, ply, favourite)
    worse = is_worse(state, ply) * (1 - is_pv)
    tried = width(state, depth, is_pv, worse)
    best = int64(NONE)
    best_move = int64(-1)
    bound = int64(UPPER)
    for number in range(count):
        if number >= tried and best > -PROVEN and state.plain == 0:
            break  # but a loss is none until every move is tried
        move = pick(state, ply, number)
        is_quiet = tables.threats[state.codes[state.side, move]] < ONE_FOUR
        left = int64(depth - price(state, tables, move, count))
        less = int64(0)
        if not is_forced:
            less = reduction(state, tables, move, depth, number, worse - is_pv)
        make(state, tables, move)
        narrow = int64(-alpha - 1)
        score = int64(alpha + 1)
        if number > 0 and state.plain == 0:
            score = -pvs(state, tables, table, narrow, int64(-alpha), int64(left - less), ply + 1)
            if score > alpha and less > 0:
                score = -pvs(state, tables, table, narrow, int64(-alpha), left, ply + 1)
        if number == 0 or state.plain != 0 or (score > alpha and is_pv != 0):
            score = -pvs(state, tables, table, int64(-beta), int64(-alpha), left, ply + 1)
        undo(state, tables)
        if state.stop != 0:
            return 0
        if score > best:
            best, best_move = score, move
        if score > alpha:
            alpha, bound = score, int64(EXACT)
            improve(state, move, score, ply)
        if alpha >= beta:
            bound = int64(LOWER)
            if is_quiet and state.plain == 0:
                reward(state, move, depth, ply)
            break
    remember(state, table, key, from_here(best, ply), best_move, depth, bound)
    return best


@jit(int64(STATE_TYPE, TABLES_TYPE, TABLE_TYPE, int64, int64))
def aspire(state: np.record, tables: np.record, table: Table, depth: int, guess: int) -> int:
    """Search the root in a window around `guess`, which grows until it holds the score."""
    half = ASPIRATION
    low, high = guess - half, guess + half
    score = guess
    while True:
        if half > ASPIRATION_LIMIT or abs(score) >= PROVEN or state.plain != 0:
            low, high = -WIN_SCORE, WIN_SCORE
        score = pvs(state, tables, table, int64(low), int64(high), int64(depth), int64(0))
        if state.stop != 0 or low < score < high or low <= -WIN_SCORE:
            return score
        half *= ASPIRATION_GROWTH
        if score <= low:
            low = score - half
        else:
            high = score + half


@jit(void(STATE_TYPE, int64, int64))
def keep(state: np.record, score: int, depth: int) -> None:
    """Make the line expected at the root the result."""
    state.best_score = score
    state.best_depth = depth
    state.best_deepest = max(state.deepest, state.best_deepest)
    length = state.pv_length[0]
    state.best_length = length
    for at in range(length):
        state.best_line[at] = state.pv[0, at]


@jit(void(STATE_TYPE, TABLES_TYPE, TABLE_TYPE, int64))
def deepen(state: np.record, tables: np.record, table: Table, depth_limit: int) -> None:
    """Search one ply deeper at a time until a limit, `stop` or a proof; the game goes on.

    The result is in ``best_*``: also that of an iteration cut short, once it knows better.
    """
    forget(state)
    state.nodes = 0
    state.best_deepest = 0
    score = judge(state, tables, int64(0))
    if score == NONE:
        list_moves(state, tables, int64(0), int64(-1))
        prove(state, pick(state, int64(0), int64(0)), int64(0))
        score = evaluate(state, tables)
    keep(state, score, int64(0))
    if score >= PROVEN:
        return
    is_forced = state.counts[1 - state.side, WIN] > 0
    for depth in range(1, depth_limit + 1):
        state.deepest = 0
        state.root_tried = 0
        score = aspire(state, tables, table, int64(depth), score)
        if state.stop != 0:
            if state.root_tried != 0 and state.pv_length[0] > 0:
                keep(state, state.root_score, int64(state.best_depth))
            return
        keep(state, score, int64(depth))
        if score >= PROVEN or depth >= state.empties:
            return
        if is_forced and depth >= FORCED_DEPTH and state.plain == 0:
            return

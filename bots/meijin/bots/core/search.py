"""Alpha-beta: principal variation search with iterative deepening and aspiration windows.

Selectivity, that is how deep and wide a node is searched: reductions, pruning and extensions.
"""

from __future__ import annotations

import numpy as np

from meijin.bots.core.jit import int64, jit, uint64, void
from meijin.bots.core.lookup import REDUCTION_ROWS, TABLES_TYPE
from meijin.bots.core.movegen import (
    add_candidates,
    clear_history,
    pick_move,
    score_moves,
    update_history,
)
from meijin.bots.core.network import evaluate
from meijin.bots.core.shapes import ONE_FOUR, ONE_THREE, TWO_FOURS, WIN
from meijin.bots.core.state import LINE, STATE_TYPE, make, undo
from meijin.bots.core.threats import (
    NONE,
    add_forced_replies,
    set_pv,
    static_result,
    vcf_score,
)
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
from meijin.game.records.chances import PROVEN_SCORE, WIN_SCORE

ASPIRATION_WINDOW = 30
"""Half of the first aspiration window, around the last iteration's score."""
ASPIRATION_GROWTH = 4
ASPIRATION_LIMIT = 1000
"""A window that has grown so wide is opened altogether."""
FORCED_DEPTH = 6
"""Where only one move is left the search goes no deeper: it tells people the score."""
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
    if state.use_futility == 0 or depth > FUTILITY_DEPTH or abs(beta) >= PROVEN_SCORE:
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


@jit(void(STATE_TYPE, int64, int64))
def update_pv(state: np.record, move: int, ply: int) -> None:
    """Set the principal variation at `ply`: `move` and the one of the next ply."""
    length = min(state.pv_length[ply + 1], LINE - 1)
    state.pv[ply, 0] = move
    for at in range(length):
        state.pv[ply, at + 1] = state.pv[ply + 1, at]
    state.pv_length[ply] = length + 1


@jit(int64(STATE_TYPE, TABLES_TYPE, int64, int64))
def generate_moves(state: np.record, tables: np.record, ply: int, tt_move: int) -> int:
    """Generate and score the moves of a node, and return how many there are."""
    count = int64(0)
    if state.plain == 0:
        count = add_forced_replies(state, tables, ply)
    if count == 0:
        count = add_candidates(state, tables, ply)
    score_moves(state, tables, ply, count, tt_move)
    return count


@jit(int64(STATE_TYPE, TABLE_TYPE, uint64, int64, int64, int64, int64))
def tt_cutoff(
    state: np.record, table: Table, key: int, alpha: int, beta: int, depth: int, ply: int
) -> int:
    """Probe the transposition table: a score that cuts off, else `NONE`; sets `tt_move`."""
    state.tt_move = -1
    if state.use_table == 0:
        return NONE
    at = probe(table, key)
    if at < 0:
        return NONE
    state.tt_move = table[at].move
    if beta - alpha > 1 or int64(table[at].depth) < depth:
        return NONE
    score = count_from(int64(table[at].score), -ply)
    bound = int64(table[at].bound)
    if (bound & LOWER != 0 and score >= beta) or (bound & UPPER != 0 and score <= alpha):
        return score
    return NONE


@jit(int64(STATE_TYPE, TABLES_TYPE, int64, int64, int64, int64))
def static_cutoff(
    state: np.record, tables: np.record, beta: int, depth: int, ply: int, is_pv: int
) -> int:
    """A cutoff before any move: reverse futility, or a win by fours; else `NONE`.

    It sets the static evaluation of the node. Fours are searched in the principal variation
    alone: elsewhere their nodes find little that a deeper search would not.
    """
    state.static_evals[ply] = evaluate(state, tables)
    if is_pv == 0:
        return state.static_evals[ply] if is_reverse_futile(state, beta, depth, ply) != 0 else NONE
    return vcf_score(state, tables, ply)


@jit(int64(STATE_TYPE))
def must_stop(state: np.record) -> int:
    """Whether the search must stop, by its limit or from outside; polled at every node."""
    if state.nodes > state.node_limit:
        state.stop = 1
    return state.stop


@jit(void(STATE_TYPE, int64, int64, int64))
def raise_alpha(state: np.record, move: int, score: int, ply: int) -> None:
    """Take the new best move into the principal variation, at the root as the result too."""
    update_pv(state, move, ply)
    if ply == 0:
        state.root_score = score
        state.root_tried = 1


@jit(void(STATE_TYPE, TABLE_TYPE, uint64, int64, int64, int64, int64))
def tt_store(
    state: np.record, table: Table, key: int, score: int, move: int, depth: int, bound: int
) -> None:
    """Store a result in the transposition table; a move that raised nothing is none."""
    if state.use_table != 0:
        best = int64(-1) if bound == UPPER else move
        store(table, key, state.age, score, best, depth, bound)


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
    """Principal variation search: the score for the side to move, fail-soft.

    Forced replies cost no depth; they add none either. The score means nothing once `stop`
    is set.
    """
    state.nodes += 1
    state.pv_length[ply] = 0
    state.static_evals[ply] = NONE
    state.seldepth = max(state.seldepth, ply)
    if must_stop(state) != 0:
        return 0
    score = static_result(state, tables, ply)
    if score != NONE:
        return score
    is_forced = state.plain == 0 and state.counts[1 - state.side, WIN] > 0
    if depth <= 0 and is_quiescent(state, depth) != 0:
        return evaluate(state, tables)
    is_pv = int64(beta - alpha > 1)
    key = state.hash ^ tables.turn[state.side]
    score = tt_cutoff(state, table, key, alpha, beta, depth, ply)
    tt_move = state.tt_move
    if score == NONE and not is_forced:
        score = static_cutoff(state, tables, beta, depth, ply, is_pv)
    if score != NONE:
        return score
    if ply == 0 and tt_move < 0:
        tt_move = state.pv[0, 0]
    depth -= internal_iterative_reduction(state, tt_move, depth)
    count = generate_moves(state, tables, ply, tt_move)
    if count == 0:
        return 0  # every empty cell is forbidden
    worsening = is_worsening(state, ply) * (1 - is_pv)
    limit = move_count_limit(state, depth, is_pv, worsening)
    best = int64(NONE)
    best_move = int64(-1)
    bound = int64(UPPER)
    for number in range(count):
        if number >= limit and best > -PROVEN_SCORE and state.plain == 0:
            break  # but a loss is none until every move is tried
        move = pick_move(state, ply, number)
        is_quiet = tables.threats[state.codes[state.side, move]] < ONE_FOUR
        new_depth = int64(depth - depth_cost(state, tables, move, count))
        reduction = int64(0)
        if not is_forced:
            reduction = late_move_reduction(state, tables, move, depth, number, worsening - is_pv)
        make(state, tables, move)
        narrow = int64(-alpha - 1)
        score = int64(alpha + 1)
        if number > 0 and state.plain == 0:
            score = -pvs(
                state, tables, table, narrow, int64(-alpha), int64(new_depth - reduction), ply + 1
            )
            if score > alpha and reduction > 0:
                score = -pvs(state, tables, table, narrow, int64(-alpha), new_depth, ply + 1)
        if number == 0 or state.plain != 0 or (score > alpha and is_pv != 0):
            score = -pvs(state, tables, table, int64(-beta), int64(-alpha), new_depth, ply + 1)
        undo(state, tables)
        if state.stop != 0:
            return 0
        if score > best:
            best, best_move = score, move
        if score > alpha:
            alpha, bound = score, int64(EXACT)
            raise_alpha(state, move, score, ply)
        if alpha >= beta:
            bound = int64(LOWER)
            if is_quiet and state.plain == 0:
                update_history(state, move, depth, ply)
            break
    tt_store(state, table, key, count_from(best, ply), best_move, depth, bound)
    return best


@jit(int64(STATE_TYPE, TABLES_TYPE, TABLE_TYPE, int64, int64))
def search_aspiration(
    state: np.record, tables: np.record, table: Table, depth: int, guess: int
) -> int:
    """Search the root in an aspiration window around `guess`, which grows until it holds."""
    half = ASPIRATION_WINDOW
    low, high = guess - half, guess + half
    score = guess
    while True:
        if half > ASPIRATION_LIMIT or abs(score) >= PROVEN_SCORE or state.plain != 0:
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
def save_iteration(state: np.record, score: int, depth: int) -> None:
    """Make the principal variation of the root the result of the search."""
    state.best_score = score
    state.best_depth = depth
    state.best_seldepth = max(state.seldepth, state.best_seldepth)
    length = state.pv_length[0]
    state.best_length = length
    for at in range(length):
        state.best_line[at] = state.pv[0, at]


@jit(void(STATE_TYPE, TABLES_TYPE, TABLE_TYPE, int64))
def iterative_deepening(
    state: np.record, tables: np.record, table: Table, depth_limit: int
) -> None:
    """Iterative deepening, until a limit, `stop` or a proof; the game must go on.

    The result is in ``best_*``: also that of an iteration cut short, once it knows better.
    """
    clear_history(state)
    state.nodes = 0
    state.best_seldepth = 0
    score = static_result(state, tables, int64(0))
    if score == NONE:
        generate_moves(state, tables, int64(0), int64(-1))
        set_pv(state, pick_move(state, int64(0), int64(0)), int64(0))
        score = evaluate(state, tables)
    save_iteration(state, score, int64(0))
    if score >= PROVEN_SCORE:
        return
    is_forced = state.counts[1 - state.side, WIN] > 0
    for depth in range(1, depth_limit + 1):
        state.seldepth = 0
        state.root_tried = 0
        score = search_aspiration(state, tables, table, int64(depth), score)
        if state.stop != 0:
            if state.root_tried != 0 and state.pv_length[0] > 0:
                save_iteration(state, state.root_score, int64(state.best_depth))
            return
        save_iteration(state, score, int64(depth))
        if score >= PROVEN_SCORE or depth >= state.empties:
            return
        if is_forced and depth >= FORCED_DEPTH and state.plain == 0:
            return

"""Move generation and move ordering."""

from __future__ import annotations

import numpy as np

from meijin.bots.core.fouls import allowed_cells
from meijin.bots.core.jit import int64, jit, lowest_bit, void
from meijin.bots.core.lookup import KIND_DOUBTFUL, KIND_FOUL, KIND_FOUR, TABLES_TYPE
from meijin.bots.core.network import policy_score, sync
from meijin.bots.core.shapes import TWO_FOURS
from meijin.bots.core.state import OCCUPIED_MARGIN, PLIES, STATE_TYPE

TT_MOVE_BONUS = 1 << 20
"""The transposition table's move comes first."""
KILLER_BONUS = 24
COUNTERMOVE_BONUS = 20
HISTORY_LIMIT = 4096
HISTORY_SHIFT = 5
"""A move that always cuts off gains 128 points."""


@jit(int64(STATE_TYPE, TABLES_TYPE, int64, int64))
def first_cell(state: np.record, tables: np.record, color: int, kind: int) -> int:
    """The first empty cell of a colour and kind, or -1."""
    for row in range(tables.height):
        mask = state.masks[color, kind, row]
        if mask != 0:
            return row * tables.width + lowest_bit(mask)
    return -1


@jit(int64(STATE_TYPE, TABLES_TYPE, int64))
def open_four_cell(state: np.record, tables: np.record, color: int) -> int:
    """The first empty cell where `color` makes two fours at once, or -1."""
    for row in range(tables.height):
        mask = state.masks[color, KIND_FOUR, row]
        while mask != 0:
            cell = row * tables.width + lowest_bit(mask)
            if tables.threats[state.codes[color, cell]] == TWO_FOURS:
                return cell
            mask &= mask - 1
    return -1


@jit(int64(STATE_TYPE, TABLES_TYPE, int64, int64, int64, int64))
def add_row(state: np.record, tables: np.record, ply: int, count: int, row: int, mask: int) -> int:
    """Add the cells of `mask` to the moves of `ply`, and return their new number."""
    while mask != 0:
        state.moves[ply, count] = row * tables.width + lowest_bit(mask)
        count += 1
        mask &= mask - 1
    return count


@jit(int64(STATE_TYPE, TABLES_TYPE, int64))
def add_defences(state: np.record, tables: np.record, ply: int) -> int:
    """Generate every move that can stop the opponent from making two fours at once.

    It is a four of one's own, or a cell where the opponent would make a four: each cell
    that completes a four he threatens is such a cell, as is the one that he would play. Where
    there are fouls, one of these cells may be forbidden to him, and stops him all the same.
    """
    count = 0
    for row in range(tables.height):
        mask = state.masks[0, KIND_FOUR, row] | state.masks[1, KIND_FOUR, row]
        mask |= state.masks[0, KIND_FOUL, row] | state.masks[0, KIND_DOUBTFUL, row]
        mask = allowed_cells(state, tables, int64(row), int64(mask))
        count = add_row(state, tables, ply, count, row, mask)
    return count


@jit(int64(STATE_TYPE, int64))
def near_row(state: np.record, row: int) -> int:
    """The cells of a row that are near to stones, beyond the edges too."""
    at = row + OCCUPIED_MARGIN
    here = state.occupied[at]
    square = state.occupied[at - 2] | state.occupied[at - 1] | here
    square |= state.occupied[at + 1] | state.occupied[at + 2]
    far = state.occupied[at - 3] | state.occupied[at + 3]
    near = square | square << 1 | square << 2 | square >> 1 | square >> 2
    return near | far | (far | here) << 3 | (far | here) >> 3


@jit(int64(STATE_TYPE, TABLES_TYPE, int64))
def add_candidates(state: np.record, tables: np.record, ply: int) -> int:
    """Generate the empty cells near stones: two steps in any direction, three along a line.

    On an empty board that is the centre, and all cells where no candidate is left. What is
    forbidden is left out.
    """
    if state.empties == tables.cells:
        state.moves[ply, 0] = tables.height // 2 * tables.width + tables.width // 2
        return 1
    count = 0
    full = (1 << tables.width) - 1
    for row in range(tables.height):
        mask = near_row(state, row) & full & ~state.occupied[row + OCCUPIED_MARGIN]
        mask = allowed_cells(state, tables, int64(row), int64(mask))
        count = add_row(state, tables, ply, count, row, mask)
    if count == 0:
        for row in range(tables.height):
            mask = full & ~state.occupied[row + OCCUPIED_MARGIN]
            mask = allowed_cells(state, tables, int64(row), int64(mask))
            count = add_row(state, tables, ply, count, row, mask)
    return count


@jit(void(STATE_TYPE, TABLES_TYPE, int64, int64, int64))
def score_moves(state: np.record, tables: np.record, ply: int, count: int, tt_move: int) -> None:
    """Move ordering: score the moves of `ply`; `tt_move` is the table's, or -1."""
    side = state.side
    counter = int64(-1)
    if state.made > 0:
        counter = state.countermoves[side, state.played[state.made - 1]]
    state.move_counts[ply] = count
    sync(state, tables)
    for number in range(count):
        cell = state.moves[ply, number]
        score = policy_score(state, tables, cell)
        score += state.history[side, cell] >> HISTORY_SHIFT
        if cell == state.killers[ply, 0] or cell == state.killers[ply, 1]:
            score += KILLER_BONUS
        if cell == counter:
            score += COUNTERMOVE_BONUS
        if cell == tt_move:
            score += TT_MOVE_BONUS
        state.scores[ply, number] = score


@jit(int64(STATE_TYPE, int64, int64))
def pick_move(state: np.record, ply: int, number: int) -> int:
    """Swap the best of the moves from `number` on into its place, and return it."""
    best = number
    for other in range(number + 1, state.move_counts[ply]):
        if state.scores[ply, other] > state.scores[ply, best]:
            best = other
    move, score = state.moves[ply, best], state.scores[ply, best]
    state.moves[ply, best], state.scores[ply, best] = (
        state.moves[ply, number],
        state.scores[ply, number],
    )
    state.moves[ply, number], state.scores[ply, number] = move, score
    return move


@jit(void(STATE_TYPE, int64, int64, int64))
def update_history(state: np.record, move: int, depth: int, ply: int) -> None:
    """Update killers, countermoves and history for a quiet move that caused a cutoff."""
    side = state.side
    if state.killers[ply, 0] != move:
        state.killers[ply, 1] = state.killers[ply, 0]
        state.killers[ply, 0] = move
    if state.made > 0:
        state.countermoves[side, state.played[state.made - 1]] = move
    bonus = min(depth * depth, 400)
    state.history[side, move] += bonus - state.history[side, move] * bonus // HISTORY_LIMIT


@jit(void(STATE_TYPE))
def clear_history(state: np.record) -> None:
    """Clear killers, countermoves and history."""
    for ply in range(PLIES):
        state.killers[ply, 0] = -1
        state.killers[ply, 1] = -1
    for color in range(2):
        for cell in range(state.history.shape[1]):
            state.history[color, cell] = 0
            state.countermoves[color, cell] = -1

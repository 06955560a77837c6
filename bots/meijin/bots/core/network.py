"""An efficiently updatable neural network (NNUE), with a value and a policy.

Each empty cell looks along its four lines, four cells each way. Such a window has a row of
numbers for each colour's point of view; the four rows of a cell are summed and rectified. The
value of a position comes from the sums of that over the board, the mover's first, through two
small layers; the policy score of a move from the numbers of its cell alone. All numbers are
integers, so no error gathers however many stones come and go, and all machines agree.

The shape is that of efficiently updatable networks (Nasu, "Efficiently updatable neural-network-
based evaluation functions for computer shogi", 2018), with the window of a line for a feature.
"""

from __future__ import annotations

import numpy as np

from meijin.bots.core.jit import int64, jit, uint64, void
from meijin.bots.core.lookup import CHANNELS, HIDDEN, TABLES_TYPE, WINDOW
from meijin.bots.core.state import STATE_TYPE, VALUES

POINTS = 100
"""What odds of e to 1 are worth, in the score of a position."""
POLICY_POINTS = 64
"""The same in the policy score of a move."""
POOL_SHIFT = 7
"""Sums over the board lose as many bits."""
LAYER_SHIFT = 10
"""As do the sums of the first layer, and those of the second."""
VALUE_SHIFT = 12
POLICY_SHIFT = 17
INT16_MAX = 32_767
"""What a number of 16 bits holds."""

_HALF = uint64(2 * WINDOW)
_MASK = uint64((1 << 2 * WINDOW) - 1)
_ZERO = np.int16(0)


@jit(int64(TABLES_TYPE, uint64, uint64))
def row_of(tables: np.record, word: int, shift: int) -> int:
    """The row for the cell that begins at bit `shift` of the word of its line."""
    low = (word >> (shift - _HALF)) & _MASK
    high = (word >> (shift + uint64(2))) & _MASK
    return int64(tables.window_rows[int64(low | (high << _HALF))])


@jit(void(STATE_TYPE, int64, int64))
def count_cell(state: np.record, cell: int, sign: int) -> None:
    """Count an empty cell in the sums (`sign` 1), or count it no more (-1)."""
    features, pooled = state.features[cell], state.pooled
    for channel in range(2 * CHANNELS):
        pooled[channel] += sign * max(features[channel], _ZERO)


@jit(void(STATE_TYPE, TABLES_TYPE, int64, int64, int64))
def replace_row(state: np.record, tables: np.record, cell: int, old: int, new: int) -> None:
    """Replace a row of an empty cell by another in its features and their sum."""
    features, pooled = state.features[cell], state.pooled
    before, after = tables.rows[old], tables.rows[new]
    for channel in range(2 * CHANNELS):
        was = features[channel]
        now = np.int16(was + after[channel] - before[channel])
        features[channel] = now
        pooled[channel] += np.int16(max(now, _ZERO) - max(was, _ZERO))


@jit(void(STATE_TYPE, TABLES_TYPE, int64, int64, int64))
def preview_row(state: np.record, tables: np.record, cell: int, old: int, new: int) -> None:
    """Add to `previewed` what `replace_row` would change, and leave the cell as it is."""
    features, previewed = state.features[cell], state.previewed
    before, after = tables.rows[old], tables.rows[new]
    for channel in range(2 * CHANNELS):
        was = features[channel]
        now = np.int16(was + after[channel] - before[channel])
        previewed[channel] += np.int16(max(now, _ZERO) - max(was, _ZERO))


@jit(void(STATE_TYPE, TABLES_TYPE, int64, int64, int64))
def toggle_stone(state: np.record, tables: np.record, cell: int, side: int, keep: int) -> None:
    """Place or take a stone as far as the windows of the empty cells around it go.

    With `keep` 0 that is only previewed.
    """
    bits = uint64(side + 1)
    for direction in range(4):
        line = tables.line[direction, cell]
        shift = tables.shift[direction, cell]
        old_word = state.synced_lines[direction, line]
        word = old_word ^ (bits << shift)
        if keep != 0:
            state.synced_lines[direction, line] = word
        before = min(tables.before[direction, cell], WINDOW)
        near = cell - before * tables.step[direction]
        shift -= uint64(2 * before)
        for _ in range(before + 1 + min(tables.after[direction, cell], WINDOW)):
            if near != cell and (word >> shift) & uint64(3) == uint64(0):
                old, new = row_of(tables, old_word, shift), row_of(tables, word, shift)
                if old != new and keep != 0:
                    replace_row(state, tables, near, old, new)
                elif old != new:
                    preview_row(state, tables, near, old, new)
            shift += uint64(2)
            near += tables.step[direction]


@jit(int64(STATE_TYPE, int64))
def stone_at(state: np.record, number: int) -> int:
    """A stone played: its cell times two, and one more if it is white."""
    cell = state.played[number]
    return 2 * cell + state.stones[cell] - 1


@jit(void(STATE_TYPE, TABLES_TYPE, int64))
def sync_first(state: np.record, tables: np.record, count: int) -> None:
    """Update the accumulators to the first stones: take what was undone, place what is new.

    Positions that nobody values, such as those of most threats, so cost nothing.
    """
    common = int64(0)
    limit = min(state.synced, count)
    while common < limit and state.synced_stones[common] == stone_at(state, common):
        common += 1
    for at in range(state.synced - 1, common - 1, -1):
        cell, side = state.synced_stones[at] >> 1, state.synced_stones[at] & 1
        toggle_stone(state, tables, cell, side, int64(1))
        count_cell(state, cell, int64(1))
    for at in range(common, count):
        state.synced_stones[at] = stone_at(state, at)
        cell, side = state.synced_stones[at] >> 1, state.synced_stones[at] & 1
        count_cell(state, cell, int64(-1))
        toggle_stone(state, tables, cell, side, int64(1))
    state.synced = count


@jit(void(STATE_TYPE, TABLES_TYPE))
def sync(state: np.record, tables: np.record) -> None:
    """Update the accumulators to the position."""
    sync_first(state, tables, state.made)


@jit(int64(STATE_TYPE))
def is_synced(state: np.record) -> int:
    """Whether the accumulators hold the position."""
    if state.synced != state.made:
        return 0
    for at in range(state.made - 1, -1, -1):
        if state.synced_stones[at] != stone_at(state, at):
            return 0
    return 1


@jit(void(STATE_TYPE, TABLES_TYPE))
def pool(state: np.record, tables: np.record) -> None:
    """Set `previewed` to the sums over the board; a last stone that is new is not kept.

    Most positions are valued and left again, so what changed need not be kept and undone.
    """
    if state.made == 0 or is_synced(state) != 0:
        sync(state, tables)
        state.previewed[:] = state.pooled
        return
    sync_first(state, tables, state.made - 1)
    stone = stone_at(state, state.made - 1)
    features = state.features[stone >> 1]
    for channel in range(2 * CHANNELS):
        state.previewed[channel] = state.pooled[channel] - max(features[channel], _ZERO)
    toggle_stone(state, tables, stone >> 1, stone & 1, int64(0))


@jit(int64(STATE_TYPE, TABLES_TYPE))
def value(state: np.record, tables: np.record) -> int:
    """The value of the position for the side to move."""
    pool(state, tables)
    inputs, first = state.inputs, state.layer
    for own in range(2):
        offset = (state.side ^ own) * CHANNELS
        for channel in range(CHANNELS):
            total = state.previewed[offset + channel] >> POOL_SHIFT
            inputs[own * CHANNELS + channel] = min(total, INT16_MAX)
    for unit in range(HIDDEN):
        weights = tables.first[unit]
        total = np.int32(tables.first_bias[unit])
        for channel in range(2 * CHANNELS):
            total = np.int32(
                total + np.int32(np.int32(inputs[channel]) * np.int32(weights[channel]))
            )
        first[unit] = min(max(total >> LAYER_SHIFT, 0), INT16_MAX)
    result = int64(tables.last_bias)
    for unit in range(HIDDEN):
        weights = tables.second[unit]
        total = np.int32(tables.second_bias[unit])
        for before in range(HIDDEN):
            total = np.int32(total + np.int32(np.int32(first[before]) * np.int32(weights[before])))
        result += max(total >> LAYER_SHIFT, 0) * tables.last[unit]
    return result >> VALUE_SHIFT


@jit(int64(STATE_TYPE, TABLES_TYPE, int64))
def policy_score(state: np.record, tables: np.record, cell: int) -> int:
    """The policy score of a move of the side to move; the accumulators must hold the position."""
    features, policy = state.features[cell], tables.policy[state.side]
    total = np.int32(0)
    for channel in range(2 * CHANNELS):
        feature = np.int32(max(features[channel], _ZERO))
        total = np.int32(total + np.int32(feature * np.int32(policy[channel])))
    return int64(total) >> POLICY_SHIFT


MAX_EVAL = 20_000
"""The highest static evaluation."""

_NOISE_SHIFT = uint64(40)
_LOW = uint64(VALUES - 1)


@jit(int64(STATE_TYPE, TABLES_TYPE))
def cached_value(state: np.record, tables: np.record) -> int:
    """The network's value, from the cache where the position was evaluated before."""
    key = state.hash ^ tables.turn[state.side]
    slot = int64(key & _LOW)
    known = state.values[slot]
    if (known ^ key) & ~_LOW == uint64(0):
        return int64(np.int16(known & _LOW))
    found = min(MAX_EVAL, max(-MAX_EVAL, value(state, tables)))
    state.values[slot] = (key & ~_LOW) | (uint64(found) & _LOW)
    return found


@jit(int64(STATE_TYPE, TABLES_TYPE))
def evaluate(state: np.record, tables: np.record) -> int:
    """The static evaluation for the side to move."""
    score = cached_value(state, tables)
    if state.noise > 0:
        score += int64(state.hash >> _NOISE_SHIFT) % (2 * state.noise + 1) - state.noise
    return score

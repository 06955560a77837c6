"""The network of the search core in floating point, and the slopes of its loss.

The loss of a position is the cross entropy of its value and `POLICY_SHARE` times that of its
move among all empty cells.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from meijin.bots.core.jit import array_type, float64, int64, jit, record_type, void
from meijin.bots.core.lookup import CHANNELS, HIDDEN, KEYS, ROWS, STEPS, WINDOW

SIDE = 15
"""Of the boards learnt from."""
CELLS = SIDE * SIDE
SUM_SCALE = 16.0
"""Sums over the board are divided by as much before the first layer."""
POLICY_SHARE = 0.2

PARAMETERS = np.dtype(
    [
        ("rows", np.float32, (ROWS, CHANNELS)),  # of windows, in the view of the side to move
        ("policy", np.float32, (2, CHANNELS)),  # the mover's view of a cell, then the other's
        ("first", np.float32, (HIDDEN, 2, CHANNELS)),
        ("first_bias", np.float32, HIDDEN),
        ("second", np.float32, (HIDDEN, HIDDEN)),
        ("second_bias", np.float32, HIDDEN),
        ("last", np.float32, HIDDEN),
        ("last_bias", np.float32),
    ]
)
POSITION = np.dtype(
    [
        ("board", np.int8, CELLS),  # 0 empty, 1 of the side to move, 2 of the other
        ("move", np.int16),
        ("aim", np.float32),  # the chance to win that the value is to give
    ],
    align=True,
)
WORK = np.dtype(
    [
        ("window_rows", np.int64, (2, KEYS)),  # by view, see `number_windows`
        ("active", np.int64),  # empty cells whose windows hold stones that matter
        ("cells", np.int64, CELLS),
        ("found", np.int64, (2, CELLS, 4)),
        ("features", np.float32, (2, CELLS, CHANNELS)),
        ("pooled", np.float32, (2, CHANNELS)),
        ("pooled_slope", np.float32, (2, CHANNELS)),
        ("slope", np.float32, CHANNELS),
        ("first", np.float32, HIDDEN),
        ("first_slope", np.float32, HIDDEN),
        ("second", np.float32, HIDDEN),
        ("second_slope", np.float32, HIDDEN),
        ("value", np.float64),
        ("chances", np.float32, CELLS),  # of the active cells to be the move
        ("policy_move", np.int64),
        ("visited", np.int64),  # positions since the sums below were cleared
        ("value_loss", np.float64),
        ("policy_loss", np.float64),
        ("hits", np.float64),
    ],
    align=True,
)
PARAMETERS_TYPE = record_type(PARAMETERS)
POSITIONS_TYPE = array_type(POSITION)
POSITION_TYPE = record_type(POSITION)
WORK_TYPE = record_type(WORK)

_STEPS = np.array(STEPS)
_TINY = 1e-9


Numbers = NDArray[np.float32]


def draw_numbers(seed: int) -> Numbers:
    """Draw the numbers that training begins with."""
    rng = np.random.default_rng(seed)
    numbers = np.zeros(PARAMETERS.itemsize // 4, np.float32)
    parameters = as_record(numbers)
    spreads = {
        "rows": 0.05,
        "policy": 0.1,
        "first": CHANNELS**-0.5,
        "second": (2 / HIDDEN) ** 0.5,
        "last": HIDDEN**-0.5,
    }
    for name, spread in spreads.items():
        parameters[name] = rng.normal(0, spread, PARAMETERS[name].shape)
    parameters["rows"][0] = 0
    return numbers


def as_record(numbers: Numbers) -> np.record:
    """The same memory as a record of `PARAMETERS`."""
    record: np.record = numbers.view(PARAMETERS).view(np.recarray)[0]
    return record


@jit(int64(POSITION_TYPE, int64, int64))
def window(position: np.record, cell: int, direction: int) -> int:
    """The key of a cell's window."""
    row, column, key = cell // SIDE, cell % SIDE, 0
    for at in range(2 * WINDOW):
        step = at - WINDOW if at < WINDOW else at - WINDOW + 1
        r, c = row + step * _STEPS[direction, 0], column + step * _STEPS[direction, 1]
        if 0 <= r < SIDE and 0 <= c < SIDE:
            key |= int64(position.board[r * SIDE + c]) << 2 * at
        else:
            key |= 3 << 2 * at
    return key


@jit(void(POSITION_TYPE, WORK_TYPE))
def find_rows(position: np.record, work: np.record) -> None:
    """List the active cells and their rows."""
    count = 0
    for cell in range(CELLS):
        if position.board[cell] != 0:
            continue
        seen = 0
        for direction in range(4):
            key = window(position, cell, direction)
            for view in range(2):
                work.found[view, count, direction] = work.window_rows[view, key]
            seen |= work.found[0, count, direction]
        work.cells[count] = cell
        count += seen != 0
    work.active = count


@jit(void(PARAMETERS_TYPE, WORK_TYPE))
def sum_features(parameters: np.record, work: np.record) -> None:
    """Compute the features of the active cells, and their sums."""
    for view in range(2):
        pooled = work.pooled[view]
        pooled[:] = 0
        for at in range(work.active):
            features = work.features[view, at]
            features[:] = 0
            for direction in range(4):
                row = parameters.rows[work.found[view, at, direction]]
                for channel in range(CHANNELS):
                    features[channel] += row[channel]
            for channel in range(CHANNELS):
                features[channel] = max(features[channel], np.float32(0))
                pooled[channel] += features[channel] / np.float32(SUM_SCALE)


@jit(void(PARAMETERS_TYPE, WORK_TYPE))
def find_value(parameters: np.record, work: np.record) -> None:
    """Compute the value, as a logit."""
    for unit in range(HIDDEN):
        total = parameters.first_bias[unit]
        for view in range(2):
            for channel in range(CHANNELS):
                total += work.pooled[view, channel] * parameters.first[unit, view, channel]
        work.first[unit] = max(total, np.float32(0))
    value = float64(parameters.last_bias)
    for unit in range(HIDDEN):
        total = parameters.second_bias[unit]
        for before in range(HIDDEN):
            total += work.first[before] * parameters.second[unit, before]
        work.second[unit] = max(total, np.float32(0))
        value += work.second[unit] * parameters.last[unit]
    work.value = value


@jit(void(PARAMETERS_TYPE, WORK_TYPE, int64))
def find_chances(parameters: np.record, work: np.record, empties: int) -> None:
    """Compute each active cell's chance to be the move; other empty cells have a logit of 0."""
    most = np.float32(0)
    work.policy_move = -1
    for at in range(work.active):
        logit = np.float32(0)
        for view in range(2):
            for channel in range(CHANNELS):
                logit += work.features[view, at, channel] * parameters.policy[view, channel]
        work.chances[at] = logit
        if logit > most:
            most = logit
            work.policy_move = work.cells[at]
    total = (empties - work.active) * math.exp(-most)
    for at in range(work.active):
        work.chances[at] = math.exp(work.chances[at] - most)
        total += work.chances[at]
    for at in range(work.active):
        work.chances[at] /= total


@jit(float64(POSITION_TYPE, WORK_TYPE, int64))
def count_losses(position: np.record, work: np.record, empties: int) -> float:
    """Add to the sums of losses; the slope of the value's."""
    work.visited += 1
    chance = 1 / (1 + math.exp(-work.value))
    work.value_loss -= position.aim * math.log(chance + _TINY)
    work.value_loss -= (1 - position.aim) * math.log(1 - chance + _TINY)
    others = 1.0
    own = -1.0
    for at in range(work.active):
        others -= work.chances[at]
        if work.cells[at] == position.move:
            own = work.chances[at]
    if own < 0:
        own = max(others, 0.0) / max(empties - work.active, 1)
    work.policy_loss -= math.log(own + _TINY)
    work.hits += work.policy_move == position.move
    return chance - position.aim


@jit(void(PARAMETERS_TYPE, PARAMETERS_TYPE, WORK_TYPE, float64))
def slope_layers(parameters: np.record, slopes: np.record, work: np.record, error: float) -> None:
    """Lead the value's error back to the sums over the board."""
    slopes.last_bias += error
    work.first_slope[:] = 0
    for unit in range(HIDDEN):
        slopes.last[unit] += error * work.second[unit]
        if work.second[unit] > 0:
            slope = np.float32(error * parameters.last[unit])
            slopes.second_bias[unit] += slope
            for before in range(HIDDEN):
                slopes.second[unit, before] += slope * work.first[before]
                work.first_slope[before] += slope * parameters.second[unit, before]
    work.pooled_slope[:] = 0
    for unit in range(HIDDEN):
        slope = work.first_slope[unit]
        if work.first[unit] > 0:
            slopes.first_bias[unit] += slope
            for view in range(2):
                for channel in range(CHANNELS):
                    slopes.first[unit, view, channel] += slope * work.pooled[view, channel]
                    work.pooled_slope[view, channel] += (
                        slope * parameters.first[unit, view, channel] / np.float32(SUM_SCALE)
                    )


@jit(void(POSITION_TYPE, PARAMETERS_TYPE, PARAMETERS_TYPE, WORK_TYPE))
def slope_rows(
    position: np.record, parameters: np.record, slopes: np.record, work: np.record
) -> None:
    """Lead both errors back to the rows of the windows."""
    for at in range(work.active):
        error = work.chances[at] - (work.cells[at] == position.move)
        error = np.float32(POLICY_SHARE * error)
        for view in range(2):
            features = work.features[view, at]
            for channel in range(CHANNELS):
                slopes.policy[view, channel] += error * features[channel]
                slope = work.pooled_slope[view, channel] + error * parameters.policy[view, channel]
                work.slope[channel] = slope if features[channel] > 0 else np.float32(0)
            for direction in range(4):
                row = slopes.rows[work.found[view, at, direction]]
                for channel in range(CHANNELS):
                    row[channel] += work.slope[channel]


@jit(void(POSITIONS_TYPE, int64[::1], PARAMETERS_TYPE, PARAMETERS_TYPE, WORK_TYPE, int64))
def visit(
    positions: np.ndarray,
    chosen: np.ndarray,
    parameters: np.record,
    slopes: np.record,
    work: np.record,
    learn: int,
) -> None:
    """Add up the losses of some positions and, if `learn` is not 0, their slopes."""
    for number in chosen:
        position = positions[number]
        find_rows(position, work)
        empties = 0
        for cell in range(CELLS):
            empties += position.board[cell] == 0
        sum_features(parameters, work)
        find_value(parameters, work)
        find_chances(parameters, work, empties)
        error = count_losses(position, work, empties)
        if learn != 0:
            slope_layers(parameters, slopes, work, error)
            slope_rows(position, parameters, slopes, work)


def losses(work: np.record) -> dict[str, float]:
    """Take the mean losses, and the share of moves found, since the last call."""
    count = max(int(work.visited), 1)
    found = {"value": work.value_loss, "policy": work.policy_loss, "hits": work.hits}
    work.visited = work.value_loss = work.policy_loss = work.hits = 0
    return {name: float(total) / count for name, total in found.items()}

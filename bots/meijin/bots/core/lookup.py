"""TABLES: the lookup tables of a variant, in one record passed as a pointer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meijin.bots.core.geometry import CELLS, SIDE, geometry_of
from meijin.bots.core.jit import new_record, record_type
from meijin.bots.core.shapes import (
    DOUBTFUL,
    FOUL,
    ONE_FOUR,
    ONE_THREE,
    THREATS,
    WIN,
    Fives,
    code_threats,
    line_patterns,
)
from meijin.bots.core.windows import KEYS, ROWS, number_windows
from meijin.game import CARO, CARO_EXACT, FREESTYLE, RENJU, STANDARD, Variant

CODES = 1 << 16

KIND_THREE, KIND_FOUR, KIND_FIVE, KIND_FOUL, KIND_DOUBTFUL = range(1, 6)
"""Kinds of cells, by what a stone there makes: an open three, a four of any sort, a five."""
KINDS = 6
"""With those where it makes less, kind 0."""

FIVES: Mapping[str, tuple[Fives, Fives]] = {
    FREESTYLE.name: (Fives.ANY, Fives.ANY),
    STANDARD.name: (Fives.EXACT, Fives.EXACT),
    RENJU.name: (Fives.LIMITED, Fives.ANY),
    CARO.name: (Fives.UNBLOCKED, Fives.UNBLOCKED),
    CARO_EXACT.name: (Fives.UNBLOCKED_EXACT, Fives.UNBLOCKED_EXACT),
}
"""By the name of each rule that the core plays: what wins for black and for white."""

NETWORK = "network.npz"
"""Made by scripts/train.py."""
CHANNELS = 32
"""Numbers in a row."""
HIDDEN = 32
"""Units in each of the network's layers."""

REDUCTION_ROWS = 64
LMR_DIVISOR = 1.0

TABLES = np.dtype(
    [
        ("width", np.int64),
        ("height", np.int64),
        ("cells", np.int64),
        ("reach", np.int64),  # cells of a window on each side, see `Fives.reach`
        ("has_fouls", np.int64),  # 1 where cells may be forbidden to black
        ("has_blocks", np.int64),  # 1 where a five may be stopped at its ends
        ("step", np.int64, 4),  # from a cell to the next, by direction
        ("row", np.int64, CELLS),
        ("column", np.int64, CELLS),
        ("line", np.int64, (4, CELLS)),  # see `Geometry`
        ("shift", np.uint64, (4, CELLS)),
        ("before", np.int64, (4, CELLS)),  # at most `reach`, as is `after`
        ("after", np.int64, (4, CELLS)),
        ("zobrist", np.uint64, (2, CELLS)),  # a key per stone, black's first
        ("turn", np.uint64, 2),  # a key for each side to move
        ("kinds", np.int64, 16),  # of a threat
        ("reductions", np.int64, (REDUCTION_ROWS, REDUCTION_ROWS)),  # by depth and move number
        ("threats", np.uint8, CODES),  # by code, see `code_threats`
        ("patterns", np.uint8, 1 << 20),  # by the key of a window, see `line_patterns`
        # The network, see `meijin.bots.core.network`.
        ("window_rows", np.int64, KEYS),  # the row of a window, by its key
        ("rows", np.int16, (ROWS, 2 * CHANNELS)),  # in black's view, then in white's
        ("policy", np.int16, (2, 2 * CHANNELS)),  # by side to move
        ("first", np.int16, (HIDDEN, 2 * CHANNELS)),  # the mover's sums first
        ("first_bias", np.int32, HIDDEN),
        ("second", np.int16, (HIDDEN, HIDDEN)),
        ("second_bias", np.int32, HIDDEN),
        ("last", np.int32, HIDDEN),
        ("last_bias", np.int64),
    ],
    align=True,
)
TABLES_TYPE = record_type(TABLES)


def prepare_rules() -> None:
    """Compute what takes long, for every rule there is: a second, and 2 MB for each rule."""
    for name in FIVES:
        _tables_of_rule(name)


@lru_cache(maxsize=8)
def tables_of(variant: Variant) -> np.record:
    """The tables of a variant: one copy, which nobody writes to."""
    tables: np.record = _tables_of_rule(variant.rule.name).copy()
    width, height = variant.width, variant.height
    geometry = geometry_of(width, height)
    tables.width, tables.height = width, height
    tables.cells = width * height
    tables.step[:] = geometry.step
    tables.row[:] = np.arange(CELLS) // width
    tables.column[:] = np.arange(CELLS) % width
    tables.line[:] = geometry.line
    tables.shift[:] = geometry.shift.astype(np.uint64)
    tables.before[:] = np.minimum(geometry.before, tables.reach)
    tables.after[:] = np.minimum(geometry.after, tables.reach)
    return tables


@cache
def _tables_of_rule(name: str) -> np.record:
    """The tables of a rule, without those of a board."""
    black, white = FIVES[name]
    tables = new_record(TABLES)
    tables.reach = max(black.reach, white.reach)
    tables.has_fouls = black is Fives.LIMITED
    tables.has_blocks = white in {Fives.UNBLOCKED, Fives.UNBLOCKED_EXACT}
    _fill_keys(tables)
    _fill_kinds(tables)
    _fill_reductions(tables)
    tables.threats[:] = code_threats()
    _fill_network(tables)
    patterns = line_patterns(black, white)
    tables.patterns[: len(patterns)] = patterns
    return tables


def _fill_keys(tables: np.record) -> None:
    """Draw the Zobrist keys, the same in every process."""
    rng = np.random.default_rng(SIDE)
    tables.zobrist[:] = rng.integers(1, 1 << 64, (2, CELLS), np.uint64)
    tables.turn[:] = rng.integers(1, 1 << 64, 2, np.uint64)


def _fill_kinds(tables: np.record) -> None:
    for threat in range(THREATS):
        if threat == FOUL:
            tables.kinds[threat] = KIND_FOUL
        elif threat == DOUBTFUL:
            tables.kinds[threat] = KIND_DOUBTFUL
        elif threat == WIN:
            tables.kinds[threat] = KIND_FIVE
        elif threat >= ONE_FOUR:
            tables.kinds[threat] = KIND_FOUR
        elif threat >= ONE_THREE:
            tables.kinds[threat] = KIND_THREE


@cache
def load_network() -> dict[str, NDArray[Any]]:
    """Read the arrays of the network, named as in `TABLES`."""
    with resources.files("meijin.bots.core").joinpath(NETWORK).open("rb") as file:
        return dict(np.load(file).items())


def _fill_network(tables: np.record) -> None:
    """Lay out the network for both colours: what is learnt is the mover's view."""
    windows, network = number_windows(), load_network()
    tables.window_rows[:] = windows.rows
    rows, policy = network["rows"], network["policy"]
    tables.rows[:] = np.concatenate([rows, rows[windows.exchanged]], axis=1)
    tables.policy[:] = policy.reshape(-1), policy[::-1].reshape(-1)
    for name in ("first", "first_bias", "second", "second_bias", "last", "last_bias"):
        tables[name] = network[name]


def _fill_reductions(tables: np.record) -> None:
    """Set how many plies less a late move is searched: it grows with both logarithms."""
    for depth in range(1, REDUCTION_ROWS):
        for number in range(1, REDUCTION_ROWS):
            plies = math.log(depth) * math.log(number) / LMR_DIVISOR
            tables.reductions[depth, number] = int(plies)

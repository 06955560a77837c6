"""TABLES: what never changes during a game, in one record."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from meijin.bots.core.geometry import CELLS, SIDE, geometry_of
from meijin.bots.core.jit import new_record, record_type
from meijin.bots.core.shapes import (
    ONE_FOUR,
    ONE_THREE,
    REACH,
    THREATS,
    WIN,
    code_threats,
    line_patterns,
)
from meijin.bots.core.weights import Weights, load_weights
from meijin.game import STANDARD, Variant

CODES = 1 << 16

KIND_QUIET, KIND_THREE, KIND_FOUR, KIND_FIVE = range(4)
"""Cells are gathered by what a stone there makes: less than a three, an open three, a four
of any sort, a five."""
KINDS = 4

REDUCTION_ROWS = 64
LMR_DIVISOR = 1.3

TABLES = np.dtype(
    [
        ("width", np.int64),
        ("height", np.int64),
        ("cells", np.int64),
        ("reach", np.int64),  # cells of a window on each side: 4, or 5 where six is no five
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
        ("values", np.int32, (CODES, 2)),  # of an empty cell's code to its side: to move, or not
        ("orders", np.int32, (CODES, 2)),  # of a move by its code: own, and the opponent's
        ("patterns", np.uint8, 1 << 20),  # by the key of a window, see `line_patterns`
    ],
    align=True,
)
TABLES_TYPE = record_type(TABLES)


@lru_cache(maxsize=8)
def tables_of(variant: Variant) -> np.record:
    """The tables of a variant with the package's weights: one copy, which nobody writes to."""
    exact = variant.rule is STANDARD
    return build_tables(variant.width, variant.height, exact=exact, weights=load_weights())


def build_tables(width: int, height: int, *, exact: bool, weights: Weights) -> np.record:
    """Compute the tables of a board; `exact` is for rules under which six is no five."""
    geometry = geometry_of(width, height)
    reach = REACH[exact]
    tables = new_record(TABLES)
    tables.width, tables.height = width, height
    tables.cells, tables.reach = width * height, reach
    tables.step[:] = geometry.step
    tables.row[:] = np.arange(CELLS) // width
    tables.column[:] = np.arange(CELLS) % width
    tables.line[:] = geometry.line
    tables.shift[:] = geometry.shift.astype(np.uint64)
    tables.before[:] = np.minimum(geometry.before, reach)
    tables.after[:] = np.minimum(geometry.after, reach)
    _fill_keys(tables)
    _fill_kinds(tables)
    _fill_reductions(tables)
    tables.threats[:] = code_threats()
    tables.values[:] = weights.values
    tables.orders[:] = weights.orders
    patterns = line_patterns(exact=exact)
    tables.patterns[: len(patterns)] = patterns
    return tables


def _fill_keys(tables: np.record) -> None:
    """Draw the Zobrist keys, the same in every process."""
    rng = np.random.default_rng(SIDE)
    tables.zobrist[:] = rng.integers(1, 1 << 64, (2, CELLS), np.uint64)
    tables.turn[:] = rng.integers(1, 1 << 64, 2, np.uint64)


def _fill_kinds(tables: np.record) -> None:
    for threat in range(THREATS):
        if threat >= WIN:
            tables.kinds[threat] = KIND_FIVE
        elif threat >= ONE_FOUR:
            tables.kinds[threat] = KIND_FOUR
        elif threat >= ONE_THREE:
            tables.kinds[threat] = KIND_THREE


def _fill_reductions(tables: np.record) -> None:
    """Set how many plies less a late move is searched: it grows with both logarithms."""
    for depth in range(1, REDUCTION_ROWS):
        for number in range(1, REDUCTION_ROWS):
            plies = math.log(depth) * math.log(number) / LMR_DIVISOR
            tables.reductions[depth, number] = int(plies)

"""TABLES: the lookup tables of a variant, in one record passed as a pointer.

Before it, the windows of the network: what a cell sees along one line, four cells each way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meijin.bots.core.jit import new_record, record_type
from meijin.bots.core.shapes import (
    DOUBTFUL,
    FOUL,
    ONE_FOUR,
    WIN,
    Fives,
    code_threats,
    line_patterns,
)
from meijin.game import CARO, CARO_EXACT, FREESTYLE, RENJU, STANDARD, Variant

SIDE = 22
"""The longest side of a board; every array is laid out for it."""
CELLS = SIDE * SIDE
LINES = 2 * SIDE - 1
"""The most lines in one direction."""
MARGIN = 5
"""Walls at each end of a line; with them a line of 22 fills the 64 bits of its word."""

STEPS = ((0, 1), (1, 0), (1, 1), (1, -1))
"""Rows and columns from one cell to the next: along a row, a column, and both diagonals."""


WINDOW = 4
"""Cells on each side."""
KEYS = 1 << 4 * WINDOW
ROWS = 1277
"""Kinds of windows."""

_EMPTY, _OWN, _END = range(3)
"""What a cell is to one colour; behind an end, all is."""
_VIEWS = 3**WINDOW
_LINE = 5

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Numbering:
    """Which row of the network belongs to a window."""

    rows: NDArray[np.uint16]
    """By key: two bits per cell, the first lowest; 0 empty, 1 own, 2 the other's, 3 wall."""
    exchanged: NDArray[np.uint16]
    """By row: the row of the same window with the colours exchanged."""


@cache
def number_windows() -> Numbering:
    """Number the windows by what matters to a five of either colour.

    That is, for each colour, the stones up to the first cell on each side that it can't use,
    and nothing if they leave no room for a five. Mirror images are the same; row 0 is for
    windows in which no stone matters.
    """
    keys = np.arange(KEYS)
    digits = keys[:, None] >> 2 * np.arange(2 * WINDOW) & 3
    first, second = _views(digits, 1), _views(digits, 2)
    kinds = _combine(first, second)
    known = np.unique(kinds)
    known = np.concatenate([[kinds[0]], known[known != kinds[0]]])
    order = np.argsort(known)
    rows = order[np.searchsorted(known, kinds, sorter=order)].astype(np.uint16)
    swapped = order[np.searchsorted(known, _combine(second, first), sorter=order)]
    exchanged = np.zeros(len(known), np.uint16)
    exchanged[rows] = swapped
    return Numbering(rows, exchanged)


def _views(digits: Numbers, own: int) -> tuple[Numbers, Numbers]:
    """What a colour sees on either side; nothing, without a stone or room for a five."""
    sides = []
    for half in (digits[:, :WINDOW][:, ::-1], digits[:, WINDOW:]):
        usable = np.logical_and.accumulate((half == 0) | (half == own), axis=1)
        sides.append(np.where(usable, np.where(half == own, _OWN, _EMPTY), _END))
    both = np.concatenate(sides, axis=1)
    matters = (both == _OWN).any(axis=1) & ((both != _END).sum(axis=1) + 1 >= _LINE)
    left, right = (side @ 3 ** np.arange(WINDOW) for side in sides)
    return np.where(matters, left, _VIEWS), np.where(matters, right, _VIEWS)


def _combine(own: tuple[Numbers, Numbers], other: tuple[Numbers, Numbers]) -> Numbers:
    """One number for both views, the same for a window and its mirror image."""
    base = _VIEWS + 1
    straight = ((own[0] * base + own[1]) * base + other[0]) * base + other[1]
    mirrored = ((own[1] * base + own[0]) * base + other[1]) * base + other[0]
    return np.minimum(straight, mirrored)


CODES = 1 << 16

KIND_FOUR, KIND_FIVE, KIND_FOUL, KIND_DOUBTFUL = range(1, 5)
"""Kinds of cells, by what a stone there makes: a four of any sort, a five, a foul."""
KINDS = 5
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
        ("line", np.int64, (4, CELLS)),  # of each cell, by direction
        ("shift", np.uint64, (4, CELLS)),  # of the cell's two bits in the word of its line
        ("before", np.int64, (4, CELLS)),  # cells in front of it; at most `reach`, as is `after`
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
    tables.width, tables.height, tables.cells = width, height, width * height
    tables.step[:] = [rows * width + columns for rows, columns in STEPS]
    tables.row[:], tables.column[:] = np.divmod(np.arange(CELLS), width)
    row, column = tables.row[: tables.cells], tables.column[: tables.cells]
    up, down, left, right = row, height - 1 - row, column, width - 1 - column
    lines = [
        (row, left, right),
        (column, up, down),
        (column - row + SIDE - 1, np.minimum(up, left), np.minimum(down, right)),
        (row + column, np.minimum(up, right), np.minimum(down, left)),
    ]
    for direction, (line, before, after) in enumerate(lines):
        at = direction, slice(tables.cells)
        tables.line[at] = line
        tables.shift[at] = 2 * (before + MARGIN)
        tables.before[at] = np.minimum(before, tables.reach)
        tables.after[at] = np.minimum(after, tables.reach)
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
    tables.kinds[ONE_FOUR:WIN] = KIND_FOUR
    tables.kinds[WIN] = KIND_FIVE
    tables.kinds[FOUL] = KIND_FOUL
    tables.kinds[DOUBTFUL] = KIND_DOUBTFUL


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

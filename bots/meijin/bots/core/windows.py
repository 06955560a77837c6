"""The windows of the network: what a cell sees along one line, four cells each way."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

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

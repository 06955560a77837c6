"""Geometry: where cells lie on the board and in its lines."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

SIDE = 22
"""The longest side of a board; every array is laid out for it."""
CELLS = SIDE * SIDE
LINES = 2 * SIDE - 1
"""The most lines in one direction."""
MARGIN = 5
"""Walls at each end of a line; with them a line of 22 fills the 64 bits of its word."""

STEPS = ((0, 1), (1, 0), (1, 1), (1, -1))
"""Rows and columns from one cell to the next: along a row, a column, and both diagonals."""


@dataclass(frozen=True, slots=True)
class Geometry:
    """The lines of one size of board; arrays have a row per direction, a column per cell."""

    line: NDArray[np.int64]
    """Which of the direction's lines the cell lies on."""
    shift: NDArray[np.int64]
    """The first of the cell's two bits in the word of its line."""
    before: NDArray[np.int64]
    """Cells of the line in front of the cell, at most `MARGIN`."""
    after: NDArray[np.int64]
    """Cells of the line behind it, at most `MARGIN`."""
    step: tuple[int, ...]
    """From a cell to the next one of its line, by direction."""


@cache
def geometry_of(width: int, height: int) -> Geometry:
    """Lay out a board; a cell is row * width + column."""
    line, shift, before, after = (np.zeros((4, CELLS), np.int64) for _ in range(4))
    for direction, step in enumerate(STEPS):
        for cell in range(width * height):
            at = divmod(cell, width)
            behind = _distance(at, (-step[0], -step[1]), (height, width))
            line[direction, cell] = _line(at, direction)
            shift[direction, cell] = 2 * (behind + MARGIN)
            before[direction, cell] = min(behind, MARGIN)
            after[direction, cell] = min(_distance(at, step, (height, width)), MARGIN)
    steps = tuple(rows * width + columns for rows, columns in STEPS)
    return Geometry(line, shift, before, after, steps)


def _line(at: tuple[int, int], direction: int) -> int:
    row, column = at
    return (row, column, column - row + SIDE - 1, row + column)[direction]


def _distance(at: tuple[int, int], step: tuple[int, int], size: tuple[int, int]) -> int:
    """Count the cells from `at` to the edge."""
    limits = []
    for place, stride, length in zip(at, step, size, strict=True):
        if stride:
            limits.append(length - 1 - place if stride > 0 else place)
    return min(limits)

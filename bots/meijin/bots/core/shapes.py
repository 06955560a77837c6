"""Shapes and threats: what a stone would make along one line, and in all four together.

The shapes are defined by recursion: a five is five in a row; a four is one move from a five;
an open four has two such moves; an open three is one move from an open four; and so on down.
"""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

LITTLE = 0
"""Less than the shapes below."""
OPEN_TWO = 1
"""A move from an open three."""
THREE = 2
"""A move from a four."""
OPEN_THREE = 3
"""A move from an open four."""
FOUR = 4
"""A move from a five."""
OPEN_FOUR = 5
"""Two moves from which to choose make a five, so no single stone stops it."""
FIVE = 6
"""A winning line."""
SHAPES = 7

QUIET = 0
ONE_THREE = 1
"""An open three."""
THREE_AND_MORE = 2
"""An open three, and a three or an open two at least in another line."""
ONE_FOUR = 3
FOUR_AND_MORE = 4
TWO_FOURS = 5
"""An open four, or fours in two lines: it wins unless the other side makes a five first."""
WIN = 6
THREATS = 7

EMPTY_CELL, OWN_CELL, BLOCKED_CELL = range(3)
"""What a cell of a window may be; opponent and wall are the same to a line."""

REACH = {False: 4, True: 5}
"""Cells that matter on each side of a stone; one more where a line of six is no five."""

Bytes: TypeAlias = NDArray[np.uint8]
Numbers: TypeAlias = NDArray[np.int64]


@cache
def window_shapes(*, exact: bool) -> Bytes:
    """Classify a stone by the cells around it: one shape per window.

    A window is a number in base 3 with a digit per cell, the first cell on the left and
    least; the stone itself stands in the middle and has none.
    """
    windows = _Windows(REACH[exact])
    shapes = np.zeros(windows.count, np.uint8)
    five = windows.fives(exact=exact)
    fives = windows.ways(five)
    _grade(shapes, FIVE, five)
    _grade(shapes, OPEN_FOUR, fives >= 2)  # noqa: PLR2004 - see OPEN_FOUR
    _grade(shapes, FOUR, fives >= 1)
    _grade(shapes, OPEN_THREE, windows.ways(shapes == OPEN_FOUR) >= 1)
    _grade(shapes, THREE, windows.ways(shapes == FOUR) >= 1)
    _grade(shapes, OPEN_TWO, windows.ways(shapes == OPEN_THREE) >= 1)
    return shapes


def _grade(shapes: Bytes, shape: int, members: NDArray[np.bool_]) -> None:
    """Give `shape` to those of `members` that have no better one."""
    shapes[members & (shapes == LITTLE)] = shape


class _Windows:
    """All windows of cells around a stone, as the columns of their digits."""

    def __init__(self, reach: int) -> None:
        self.cells = 2 * reach
        self.count = 3**self.cells
        self._numbers = np.arange(self.count)
        self._digits = [self._numbers // 3**cell % 3 for cell in range(self.cells)]

    def fives(self, *, exact: bool) -> NDArray[np.bool_]:
        """Find the windows in which the stone stands in a winning line."""
        half = self.cells // 2
        left = _run([self._digits[cell] for cell in reversed(range(half))])
        right = _run([self._digits[cell] for cell in range(half, self.cells)])
        run: Numbers = left + right + 1
        return run == 5 if exact else run >= 5  # noqa: PLR2004 - the five of Gomoku

    def ways(self, goal: NDArray[np.bool_]) -> Numbers:
        """Count the empty cells of each window where one more stone leads to `goal`."""
        ways = np.zeros(self.count, np.int64)
        for cell, digits in enumerate(self._digits):
            free = digits == EMPTY_CELL
            ways[free] += goal[self._numbers[free] + OWN_CELL * 3**cell]
        return ways


def _run(cells: list[Numbers]) -> Numbers:
    """Count the own stones from the first of `cells` on."""
    going = np.ones(len(cells[0]), np.bool_)
    run = np.zeros(len(cells[0]), np.int64)
    for digits in cells:
        going &= digits == OWN_CELL
        run += going
    return run


@cache
def line_patterns(*, exact: bool) -> Bytes:
    """Classify an empty cell for both sides: black's shape plus 16 times white's, by key.

    A key has two bits per cell of the window, the first cell lowest: 0 empty, 1 black,
    2 white, 3 wall.
    """
    reach = REACH[exact]
    shapes = window_shapes(exact=exact)
    keys = np.arange(1 << 4 * reach)
    sides = [
        np.array([EMPTY_CELL, OWN_CELL, BLOCKED_CELL, BLOCKED_CELL]),
        np.array([EMPTY_CELL, BLOCKED_CELL, OWN_CELL, BLOCKED_CELL]),
    ]
    patterns = np.zeros(len(keys), np.uint8)
    for side, digits in enumerate(sides):
        windows = np.zeros(len(keys), np.int64)
        for cell in range(2 * reach):
            windows += digits[keys >> 2 * cell & 3] * 3**cell
        patterns |= shapes[windows] << np.uint8(4 * side)
    return patterns


@cache
def code_shapes() -> Bytes:
    """List the four shapes of every code: 65,536 rows, a column per direction.

    A code has four bits for the shape in each of the four directions, the first lowest.
    """
    codes = np.arange(1 << 16)[:, None]
    shapes: Bytes = (codes >> np.array([0, 4, 8, 12]) & 15).astype(np.uint8)
    return shapes


@cache
def code_threats() -> Bytes:
    """Classify what a stone would threaten in all four directions together, by code."""
    shapes = code_shapes()

    def count(*kinds: int) -> Numbers:
        number: Numbers = np.isin(shapes, kinds).sum(axis=1)
        return number

    fours, threes = count(FOUR), count(OPEN_THREE)
    more = threes + count(THREE, OPEN_TWO)
    conditions = [
        (WIN, count(FIVE) > 0),
        (TWO_FOURS, (count(OPEN_FOUR) > 0) | (fours > 1)),
        (FOUR_AND_MORE, (fours > 0) & (more > 0)),
        (ONE_FOUR, fours > 0),
        (THREE_AND_MORE, (threes > 0) & (more > 1)),
        (ONE_THREE, threes > 0),
    ]
    threats = np.select([met for _, met in conditions], [threat for threat, _ in conditions])
    return threats.astype(np.uint8)

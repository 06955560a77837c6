"""Shapes and threats: what a stone would make along one line, and in all four together.

The shapes are defined by recursion: a five is a row that wins; a four is one move from a five;
an open four is one that no single stone stops; an open three is one move from an open four; and
so on down. Where two fours or threes are a foul, they have shapes of their own, with the same
words' meaning of the rules of renju.
"""

from __future__ import annotations

import enum
from functools import cache, cached_property
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
"""A five next turn that no single stone stops: two moves from which to choose make it."""
FIVE = 6
"""A winning line."""
LIMITED_THREE = 11
"""An open three, for a side that may not make two: a move from a straight four."""
LIMITED_FOUR = 12
"""A four, for a side that may not make two."""
STRAIGHT_FOUR = 13
"""An open four of a side that may not make two fours: four in an unbroken row."""
OVERLINE = 14
"""Six or more in a row, where they are a foul."""
DOUBLE_FOUR = 15
"""Two fours in one line, where they are a foul."""

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
FOUL = 7
"""Forbidden to the side, as its own four lines show."""
DOUBTFUL = 8
"""Forbidden if two lines at least are threes, which hangs on other cells."""
THREATS = 9

LINE = 5
"""The five of Gomoku."""

EMPTY_CELL, OWN_CELL, BLOCKED_CELL = range(3)
"""What a cell of a window may be; opponent and wall are the same to a line."""


class Fives(enum.Enum):
    """Which rows of stones win for a side."""

    ANY = enum.auto()
    """Five or more."""
    EXACT = enum.auto()
    """Five and no more."""
    UNBLOCKED = enum.auto()
    """Five with an empty cell at an end, or six and more."""
    UNBLOCKED_EXACT = enum.auto()
    """Five with an empty cell at an end."""
    LIMITED = enum.auto()
    """Five and no more, for the side that may not make two fours, two threes or six."""

    @property
    def reach(self) -> int:
        """Cells that matter on each side of a stone; one more where it matters what ends a row."""
        return 4 if self is Fives.ANY else 5


_UNBLOCKED = {Fives.UNBLOCKED, Fives.UNBLOCKED_EXACT}
_OVERLINE_WINS = {Fives.ANY, Fives.UNBLOCKED}

Bytes: TypeAlias = NDArray[np.uint8]
Numbers: TypeAlias = NDArray[np.int64]


@cache
def window_shapes(fives: Fives, reach: int) -> Bytes:
    """Classify a stone by the cells around it, `reach` each way: one shape per window.

    A window is a number in base 3 with a digit per cell, the first cell on the left and
    least; the stone itself stands in the middle and has none.
    """
    windows = _Windows(reach)
    shapes = np.zeros(windows.count, np.uint8)
    five = windows.fives(fives)
    ways = windows.ways(five)
    is_limited = fives is Fives.LIMITED
    _grade(shapes, FIVE, five)
    if is_limited:
        _grade(shapes, OVERLINE, windows.run > LINE)
        _grade(shapes, STRAIGHT_FOUR, (windows.run == LINE - 1) & (ways > 1))
        _grade(shapes, DOUBLE_FOUR, ways > 1)
    open_four = STRAIGHT_FOUR if is_limited else OPEN_FOUR
    four = LIMITED_FOUR if is_limited else FOUR
    open_three = LIMITED_THREE if is_limited else OPEN_THREE
    _grade(shapes, open_four, windows.unstoppable(ways >= 1))
    _grade(shapes, four, ways >= 1)
    _grade(shapes, open_three, windows.ways(shapes == open_four) >= 1)
    _grade(shapes, THREE, windows.ways(shapes == four) >= 1)
    _grade(shapes, OPEN_TWO, windows.ways(shapes == open_three) >= 1)
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

    @cached_property
    def run(self) -> Numbers:
        """How many stones stand in a row with the one in the middle."""
        run: Numbers = self._arms[0] + self._arms[1] + 1
        return run

    @cached_property
    def _arms(self) -> tuple[Numbers, Numbers]:
        """Own stones next to the one in the middle, on the left and on the right."""
        half = self.cells // 2
        left = _run([self._digits[cell] for cell in reversed(range(half))])
        right = _run([self._digits[cell] for cell in range(half, self.cells)])
        return left, right

    def fives(self, fives: Fives) -> NDArray[np.bool_]:
        """Find the windows in which the stone stands in a winning line."""
        is_five: NDArray[np.bool_] = self.run == LINE
        if fives in _UNBLOCKED:
            is_five &= self._has_free_end()
        return is_five | (self.run > LINE) if fives in _OVERLINE_WINS else is_five

    def _has_free_end(self) -> NDArray[np.bool_]:
        """Find the windows in which a cell next to the stone's row is empty."""
        half = self.cells // 2
        left, right = self._arms
        digits = np.array(self._digits)
        before = digits[np.maximum(half - 1 - left, 0), self._numbers]
        after = digits[np.minimum(half + right, self.cells - 1), self._numbers]
        free: NDArray[np.bool_] = (before == EMPTY_CELL) | (after == EMPTY_CELL)
        return free

    def unstoppable(self, goal: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Find the windows that are in `goal`, and with any stone of the other side still are."""
        kept = goal.copy()
        for cell, digits in enumerate(self._digits):
            free = digits == EMPTY_CELL
            kept[free] &= goal[self._numbers[free] + BLOCKED_CELL * 3**cell]
        return kept

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
def line_patterns(black: Fives, white: Fives) -> Bytes:
    """Classify an empty cell for both sides: black's shape plus 16 times white's, by key.

    A key has two bits per cell of the window, the first cell lowest: 0 empty, 1 black,
    2 white, 3 wall.
    """
    reach = max(black.reach, white.reach)
    halves = np.arange(1 << 2 * reach)  # of a key: putting two together is quicker
    sides = [
        (black, np.array([EMPTY_CELL, OWN_CELL, BLOCKED_CELL, BLOCKED_CELL])),
        (white, np.array([EMPTY_CELL, BLOCKED_CELL, OWN_CELL, BLOCKED_CELL])),
    ]
    patterns = np.zeros(len(halves) ** 2, np.uint8)
    for side, (fives, digits) in enumerate(sides):
        half: Numbers = sum(digits[halves >> 2 * cell & 3] * 3**cell for cell in range(reach))
        windows = (half[:, None] * 3**reach + half).reshape(-1)
        patterns |= window_shapes(fives, reach)[windows] << np.uint8(4 * side)
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

    fours, threes = count(FOUR, LIMITED_FOUR), count(OPEN_THREE, LIMITED_THREE)
    more = threes + count(THREE, OPEN_TWO)
    limited = count(LIMITED_FOUR, STRAIGHT_FOUR)
    conditions = [
        (WIN, count(FIVE) > 0),
        (FOUL, (count(OVERLINE, DOUBLE_FOUR) > 0) | (limited > 1)),
        (DOUBTFUL, count(LIMITED_THREE) > 1),
        (TWO_FOURS, (count(OPEN_FOUR, STRAIGHT_FOUR) > 0) | (fours > 1)),
        (FOUR_AND_MORE, (fours > 0) & (more > 0)),
        (ONE_FOUR, fours > 0),
        (THREE_AND_MORE, (threes > 0) & (more > 1)),
        (ONE_THREE, threes > 0),
    ]
    threats = np.select([met for _, met in conditions], [threat for threat, _ in conditions])
    return threats.astype(np.uint8)

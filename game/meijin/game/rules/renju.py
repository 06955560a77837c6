"""Renju: what is forbidden to black, by the International Rules of the RIF.

A four is a row of four stones to which one stone can be added to make a five, a straight four
one with two such places. A three is a row of three to which one stone can be added to make a
straight four, without making a five at the same time, and where that stone is not forbidden
itself: so the definition calls itself. Black may not make two threes, two fours, be it in one
line, or six in a row at once, unless the stone makes a five too.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple, TypeAlias

from meijin.game.color import Color
from meijin.game.grid import Grid, grid_for
from meijin.game.rules.rule import Stones

FIVE, STRAIGHT_FOUR = 5, 4
REACH = 5
"""Cells on each side of a stone that can matter to it: a five ends in 4, and 6 are no five."""
DOUBLE = 2
"""Fours, or threes, that are too many."""

BLACK, EMPTY = Color.BLACK.value, 0


class Foul(enum.Enum):
    """Why a cell is forbidden to black."""

    OVERLINE = "overline"
    DOUBLE_FOUR = "double-four"
    DOUBLE_THREE = "double-three"


class Shape(NamedTuple):
    """What a black stone makes along one line."""

    run: int
    """Stones in an unbroken row with it."""
    fours: int
    """None, one or two."""
    extensions: tuple[int, ...]
    """Steps from the stone to the cells that would make a straight four: for a three."""


Window: TypeAlias = "tuple[slice, int, int]"
"""Places of the stones' array along one line, where among them a cell is, and the step."""


@lru_cache(maxsize=1 << 16)
def shape_of(window: bytes, at: int) -> Shape:
    """What a black stone at `at` makes of a line's cells; beyond them nothing can be played."""
    cells = bytearray(window)
    cells[at] = BLACK
    low, high = _run(cells, at)
    gaps = [gap for gap in (low - 1, high + 1) if _is(cells, gap, EMPTY)]
    fives, extensions = 0, []
    for gap in gaps:
        cells[gap] = BLACK
        first, last = _run(cells, at)
        length = last - first + 1
        fives += length == FIVE
        if length == STRAIGHT_FOUR and _is_open(cells, first, -1) and _is_open(cells, last, 1):
            extensions.append(gap - at)
        cells[gap] = EMPTY
    run = high - low + 1
    fours = 1 if run == STRAIGHT_FOUR and fives else fives
    return Shape(run, fours, tuple(extensions))


def _run(cells: bytearray, at: int) -> tuple[int, int]:
    """The ends of the black row through `at`."""
    low = high = at
    while _is(cells, low - 1, BLACK):
        low -= 1
    while _is(cells, high + 1, BLACK):
        high += 1
    return low, high


def _is(cells: bytearray, at: int, value: int) -> bool:
    return 0 <= at < len(cells) and cells[at] == value


def _is_open(cells: bytearray, end: int, way: int) -> bool:
    """Whether one more stone behind the end of a row of four makes a five, and no six."""
    return _is(cells, end + way, EMPTY) and not _is(cells, end + 2 * way, BLACK)


@lru_cache(maxsize=1 << 14)
def _windows(stride: int, cells: int, at: int) -> tuple[Window, ...]:
    """The four windows around the cell at the place `at`: `REACH` each way, or to an edge.

    The grid is given by two numbers, as its own hash takes 8 microseconds.
    """
    width = stride - 1
    grid = grid_for(width, cells // width)
    return tuple(_window(grid, at, step) for step in grid.steps)


def _window(grid: Grid, at: int, step: int) -> Window:
    before = after = 0
    while before < REACH and grid.empty[at - (before + 1) * step] == EMPTY:
        before += 1
    while after < REACH and grid.empty[at + (after + 1) * step] == EMPTY:
        after += 1
    return slice(at - before * step, at + after * step + 1, step), before, step


class _Fouls:
    """The search for fouls in one position; it places stones on the array that it is given."""

    def __init__(self, stones: bytearray, grid: Grid) -> None:
        self._stones = stones
        self._size = grid.steps[2], len(grid.index)
        self._placed = 0
        self._known: dict[tuple[int, int], bool] = {}

    def shapes(self, at: int) -> list[Shape]:
        """What a black stone at the place `at` makes in each direction."""
        stones = self._stones
        windows = _windows(*self._size, at)
        return [shape_of(bytes(stones[view]), middle) for view, middle, _ in windows]

    def find(self, at: int) -> Foul | None:
        """Why a black stone at the empty place `at`, which makes no five, is forbidden."""
        return self._judge(at, self.shapes(at))

    def _judge(self, at: int, shapes: list[Shape]) -> Foul | None:
        if any(shape.run > FIVE for shape in shapes):
            return Foul.OVERLINE
        if sum(shape.fours for shape in shapes) >= DOUBLE:
            return Foul.DOUBLE_FOUR
        if sum(bool(shape.extensions) for shape in shapes) >= DOUBLE and self._threes(at, shapes):
            return Foul.DOUBLE_THREE
        return None

    def _threes(self, at: int, shapes: list[Shape]) -> bool:
        """Whether two of the lines are threes, the extensions being judged too."""
        spare = sum(bool(shape.extensions) for shape in shapes) - DOUBLE
        self._toggle(at, BLACK)
        for shape, (_, _, step) in zip(shapes, _windows(*self._size, at), strict=True):
            if shape.extensions:
                spare -= not any(self._is_allowed(at + way * step) for way in shape.extensions)
                if spare < 0:
                    break
        self._toggle(at, EMPTY)
        return spare >= 0

    def _toggle(self, at: int, value: int) -> None:
        self._stones[at] = value
        self._placed ^= 1 << at

    def _is_allowed(self, at: int) -> bool:
        """Whether a stone at `at` is no foul, and no five either."""
        key = self._placed, at
        allowed = self._known.get(key)
        if allowed is None:
            shapes = self.shapes(at)
            has_five = any(shape.run == FIVE for shape in shapes)
            allowed = self._known[key] = not has_five and self._judge(at, shapes) is None
        return allowed


def shapes_at(board: Stones, cell: int) -> list[Shape]:
    """What a black stone on the empty `cell` makes in each direction."""
    return _Fouls(board.stones, board.grid).shapes(board.grid.index[cell])


def may_be_foul(shapes: list[Shape]) -> bool:
    """Whether a stone makes too much of something, as far as its own four lines show."""
    if any(shape.run == FIVE for shape in shapes):
        return False
    if any(shape.run > FIVE for shape in shapes):
        return True
    fours = sum(shape.fours for shape in shapes)
    return fours >= DOUBLE or sum(bool(shape.extensions) for shape in shapes) >= DOUBLE


def foul_at(board: Stones, cell: int) -> Foul | None:
    """Why a black stone on the empty `cell` is forbidden, if it is."""
    if not may_be_foul(shapes_at(board, cell)):
        return None
    grid = board.grid
    return _Fouls(board.stones[:], grid).find(grid.index[cell])


@dataclass(frozen=True, slots=True)
class RenjuRule:
    """Black wins with exactly five and may not make a foul; white wins with five or more."""

    name: str = "renju"

    has_forbidden_cells: ClassVar[bool] = True
    needs_five: ClassVar[bool] = True

    def wins(self, board: Stones, cell: int) -> bool:
        """Whether the stone on `cell` stands in a winning line."""
        stones = board.stones
        at = board.grid.index[cell]
        color = stones[at]
        for step in board.grid.steps:
            low, high = at - step, at + step
            while stones[low] == color:
                low -= step
            while stones[high] == color:
                high += step
            run = (high - low) // step - 1
            if run == FIVE or (run > FIVE and color != BLACK):
                return True
        return False

    def forbids(self, board: Stones, cell: int, color: Color) -> bool:
        """Whether `color` is black and a stone on the empty `cell` is a foul."""
        return color is Color.BLACK and foul_at(board, cell) is not None

    def foul(self, board: Stones, cell: int) -> str:
        """The name of the foul that a black stone on the empty `cell` is; empty for none."""
        found = foul_at(board, cell)
        return "" if found is None else found.value


RENJU = RenjuRule()

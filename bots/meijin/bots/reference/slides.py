"""The grid of 2048: how it slides, and what it is worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from operator import mul
from typing import TypeAlias

SIDE = 4
CELLS = SIDE * SIDE

Grid: TypeAlias = tuple[int, ...]
"""The 16 tiles, row by row from the top; 0 for an empty cell."""

EMPTY: Grid = (0,) * CELLS


class Slide(Enum):
    """Where all tiles go."""

    UP = "up"
    LEFT = "left"
    DOWN = "down"
    RIGHT = "right"


def _lines(cell: Callable[[int, int], int]) -> tuple[tuple[int, ...], ...]:
    """The cells of each line, beginning at the side that the tiles go to."""
    return tuple(tuple(cell(line, at) for at in range(SIDE)) for line in range(SIDE))


_LAST = SIDE - 1
LINES = {
    Slide.UP: _lines(lambda line, at: at * SIDE + line),
    Slide.LEFT: _lines(lambda line, at: line * SIDE + at),
    Slide.DOWN: _lines(lambda line, at: (_LAST - at) * SIDE + line),
    Slide.RIGHT: _lines(lambda line, at: line * SIDE + _LAST - at),
}


def pushed(line: Sequence[int]) -> list[int]:
    """A line after its tiles go to its beginning: equal neighbours merge, each tile once."""
    tiles: list[int] = []
    merged = False
    for tile in filter(None, line):
        if tiles and tiles[-1] == tile and not merged:
            tiles[-1] += tile
            merged = True
        else:
            tiles.append(tile)
            merged = False
    return tiles + [0] * (SIDE - len(tiles))


def slid(grid: Grid, slide: Slide) -> Grid:
    """The grid after a slide; the same grid if nothing moves."""
    after = [0] * CELLS
    for cells in LINES[slide]:
        for cell, tile in zip(cells, pushed([grid[cell] for cell in cells]), strict=True):
            after[cell] = tile
    return tuple(after)


def neighbours(cell: int) -> list[int]:
    """The cells that share a side with `cell`."""
    row, column = divmod(cell, SIDE)
    around = ((row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column))
    return [down * SIDE + right for down, right in around if 0 <= down < SIDE and 0 <= right < SIDE]


SNAKE: Grid = (16, 15, 14, 13, 9, 10, 11, 12, 8, 7, 6, 5, 1, 2, 3, 4)
STEEP: Grid = (16, 15, 12, 4, 14, 13, 11, 3, 10, 9, 8, 2, 7, 6, 5, 1)
FLAT: Grid = (16, 15, 14, 4, 13, 12, 11, 3, 10, 9, 8, 2, 7, 6, 5, 1)
"""Weights that fall along a snake, and in two ways away from a corner."""


def turned(grid: Grid) -> Grid:
    """The grid turned a quarter clockwise."""
    return tuple(
        grid[(_LAST - column) * SIDE + row] for row in range(SIDE) for column in range(SIDE)
    )


def mirrored(grid: Grid) -> Grid:
    """The grid with left and right exchanged."""
    return tuple(grid[row * SIDE + _LAST - column] for row in range(SIDE) for column in range(SIDE))


def symmetries(grid: Grid) -> Iterator[Grid]:
    """The grid in its eight positions, itself first."""
    for _ in range(SIDE):
        yield grid
        yield mirrored(grid)
        grid = turned(grid)


_WEIGHTS = tuple(each for weights in (SNAKE, STEEP, FLAT) for each in symmetries(weights))


def grid_worth(grid: Grid) -> int:
    """The largest sum of tile times weight, over the three matrices in all positions."""
    sums: list[int] = [sum(map(mul, grid, weights)) for weights in _WEIGHTS]
    return max(sums)

"""The lines and neighbourhoods of a board, for bots that search in Python."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from meijin.game import Variant

NEAR = 2
"""A cell at most so far from a stone, in rows and in columns, is worth a look."""

_DIRECTIONS = ((0, 1), (1, -1), (1, 0), (1, 1))


@dataclass(frozen=True, slots=True)
class Geometry:
    """What a variant's board looks like before a stone stands on it."""

    lines: tuple[tuple[int, ...], ...]
    """The cells of each line that would win."""
    ends: tuple[tuple[int, ...], ...]
    """The cells just beyond each line; at the edge there are fewer than two."""
    through: tuple[tuple[int, ...], ...]
    """The numbers of the lines through each cell."""
    near: tuple[tuple[int, ...], ...]
    """The cells near each cell."""
    centre: int
    """The cell in the middle, or the one below and right of it."""


@lru_cache(maxsize=8)
def geometry_of(variant: Variant) -> Geometry:
    """Work out a variant's geometry; the first time that takes some milliseconds."""
    walks = [walk for walk in _walks(variant) if None not in walk[1:-1]]
    lines = [_on_board(walk[1:-1]) for walk in walks]
    through: list[list[int]] = [[] for _ in range(variant.cells)]
    for number, line in enumerate(lines):
        for cell in line:
            through[cell].append(number)
    return Geometry(
        lines=tuple(lines),
        ends=tuple(_on_board([walk[0], walk[-1]]) for walk in walks),
        through=tuple(map(tuple, through)),
        near=tuple(_near(cell, variant) for cell in range(variant.cells)),
        centre=variant.height // 2 * variant.width + variant.width // 2,
    )


def _walks(variant: Variant) -> list[list[int | None]]:
    """From each cell in each direction: the cell behind it, a line, and the cell beyond."""
    steps = range(-1, variant.line + 1)
    return [
        [_cell(row + k * down, column + k * right, variant) for k in steps]
        for row in range(variant.height)
        for column in range(variant.width)
        for down, right in _DIRECTIONS
    ]


def _near(cell: int, variant: Variant) -> tuple[int, ...]:
    row, column = divmod(cell, variant.width)
    reach = range(-NEAR, NEAR + 1)
    square = [_cell(row + down, column + right, variant) for down in reach for right in reach]
    return tuple(other for other in _on_board(square) if other != cell)


def _cell(row: int, column: int, variant: Variant) -> int | None:
    on_board = 0 <= row < variant.height and 0 <= column < variant.width
    return row * variant.width + column if on_board else None


def _on_board(cells: list[int | None]) -> tuple[int, ...]:
    return tuple(cell for cell in cells if cell is not None)

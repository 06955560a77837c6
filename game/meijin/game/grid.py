"""The padded layout behind a board, one per board size."""

from dataclasses import dataclass
from functools import cache

BORDER = 3
"""The value around the board: neither empty (0) nor a stone (1, 2)."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Where the cells of a board lie in its flat array.

    A row of border lies above and below, and one border column both ends a row and
    starts the next, so a walk along any line meets the border before it wraps around.
    """

    index: tuple[int, ...]
    """The place of each cell in the array."""
    steps: tuple[int, int, int, int]
    """The distance to the next place east, south-west, south and south-east."""
    empty: bytes
    """The array of a board without stones."""


@cache
def grid_for(width: int, height: int) -> Grid:
    """The layout of a board with `width` columns and `height` rows."""
    stride = width + 1
    index = tuple(
        (row + 1) * stride + column + 1 for row in range(height) for column in range(width)
    )
    array = bytearray([BORDER]) * ((height + 2) * stride + 1)
    for place in index:
        array[place] = 0
    return Grid(index, (1, stride - 1, stride, stride + 1), bytes(array))

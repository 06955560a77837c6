"""2048 searched as if every new tile were placed by an enemy.

One side slides and maximises, the other places a 2 or a 4 and minimises. A grid is worth the sum of
its tiles times weights, which fall along a snake or away from a corner: the largest of three such
sums, in any of eight positions.
"""

import argparse
from collections.abc import Hashable, Iterator, Sequence
from operator import mul
from random import Random

from meijin.bots.reference import alphabeta

SIDE = 4
Grid = tuple[int, ...]
"""The 16 tiles, row by row from the top; 0 for an empty cell."""
SLIDES = ("up", "left", "down", "right")
Move = str | tuple[int, int]
"""A slide, or a cell and the tile that is placed there."""

WEIGHTS = (
    (16, 15, 14, 13, 9, 10, 11, 12, 8, 7, 6, 5, 1, 2, 3, 4),
    (16, 15, 12, 4, 14, 13, 11, 3, 10, 9, 8, 2, 7, 6, 5, 1),
    (16, 15, 14, 4, 13, 12, 11, 3, 10, 9, 8, 2, 7, 6, 5, 1),
)


def turned(grid: Grid) -> Grid:
    """The grid turned a quarter against the clock: what was on the right is on top."""
    return tuple(grid[row * SIDE + SIDE - 1 - line] for line in range(SIDE) for row in range(SIDE))


def symmetries(grid: Grid) -> Iterator[Grid]:
    """The grid in its eight positions."""
    for _ in range(SIDE):
        yield grid
        yield tuple(grid[cell ^ (SIDE - 1)] for cell in range(SIDE * SIDE))
        grid = turned(grid)


ALL_WEIGHTS = [each for weights in WEIGHTS for each in symmetries(weights)]


def pushed(line: Sequence[int]) -> list[int]:
    """A line pushed to its beginning: equal neighbours merge, each tile once."""
    tiles: list[int] = []
    merged = False
    for tile in filter(None, line):
        if merged := bool(tiles) and tiles[-1] == tile and not merged:
            tiles[-1] += tile
        else:
            tiles.append(tile)
    return tiles + [0] * (SIDE - len(tiles))


def slid(grid: Grid, slide: str) -> Grid:
    """The grid after a slide; the same grid if nothing moves."""
    turns = {"left": 0, "up": 1, "right": 2, "down": 3}[slide]
    for _ in range(turns):
        grid = turned(grid)
    grid = tuple(tile for at in range(0, 16, SIDE) for tile in pushed(grid[at : at + SIDE]))
    for _ in range(-turns % 4):
        grid = turned(grid)
    return grid


class Twenty48:
    """A game as `meijin.bots.reference` searches it."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.maximiser_to_move = True
        self._before: list[Grid] = []

    @property
    def is_over(self) -> bool:
        """Whether the slider can't move."""
        return self.maximiser_to_move and not self.moves()

    @property
    def key(self) -> Hashable:
        """The grid and whose turn it is."""
        return self.grid, self.maximiser_to_move

    def moves(self) -> Sequence[Move]:
        """The slides that move a tile; or the placements, beside a tile where that is possible."""
        if self.maximiser_to_move:
            return [slide for slide in SLIDES if slid(self.grid, slide) != self.grid]
        empty = [cell for cell, tile in enumerate(self.grid) if not tile]
        near = [cell for cell in empty if self._has_neighbour(cell)]
        return [(cell, tile) for cell in near or empty for tile in (2, 4)]

    def _has_neighbour(self, cell: int) -> bool:
        row, column = divmod(cell, SIDE)
        around = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
        return any(self.grid[y * SIDE + x] for y, x in around if 0 <= x < SIDE and 0 <= y < SIDE)

    def play(self, move: Move) -> None:
        """Slide, or place a tile."""
        self._before.append(self.grid)
        self.grid = slid(self.grid, move) if isinstance(move, str) else placed(self.grid, *move)
        self.maximiser_to_move = not self.maximiser_to_move

    def undo(self) -> None:
        """Take the last slide or tile back."""
        self.grid = self._before.pop()
        self.maximiser_to_move = not self.maximiser_to_move

    def evaluate(self) -> float:
        """The worth of the grid; nothing where the slider is stuck."""
        return 0 if self.is_over else max(sum(map(mul, self.grid, each)) for each in ALL_WEIGHTS)


def placed(grid: Grid, cell: int, tile: int) -> Grid:
    """The grid with a tile more."""
    return (*grid[:cell], tile, *grid[cell + 1 :])


def with_new_tile(grid: Grid, rng: Random) -> Grid:
    """The grid with a tile on any empty cell; one in ten is a four."""
    cell = rng.choice([cell for cell, tile in enumerate(grid) if not tile])
    return placed(grid, cell, 4 if rng.random() < 0.1 else 2)


def main() -> None:
    """Play a game, or its first moves."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=-1, help="stop after this many slides")
    parser.add_argument("--seed", type=int, help="what chance begins with")
    options = parser.parse_args()
    rng = Random(options.seed)
    grid = with_new_tile(with_new_tile((0,) * SIDE * SIDE, rng), rng)
    number = 0
    while number != options.moves and Twenty48(grid).moves():
        number += 1
        depth = 6 if max(grid) >= 2048 else 5 if max(grid) >= 1024 else 4
        found = alphabeta(Twenty48(grid), depth)
        assert isinstance(found.move, str)
        grid = with_new_tile(slid(grid, found.move), rng)
        seen = f"{depth} plies, {found.nodes} positions"
        print(f"{number}: {found.move}, largest {max(grid)}, sum {sum(grid)}; {seen}")
    for at in range(0, SIDE * SIDE, SIDE):
        print(" ".join(f"{tile or '.':>5}" for tile in grid[at : at + SIDE]))
    over = "stopped" if Twenty48(grid).moves() else "over"
    print(f"{over} after {number} slides; the largest tile is {max(grid)}")


if __name__ == "__main__":
    main()

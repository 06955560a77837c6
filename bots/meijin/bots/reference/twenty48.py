"""2048 against an adversary: one side slides, the other puts tiles in the way."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from meijin.bots.reference.minimax import Found, alphabeta
from meijin.bots.reference.slides import EMPTY, Grid, Slide, grid_worth, neighbours, slid

TILES = (2, 4)
"""What the adversary may place."""
RARE = 0.1
"""The share of fours among the tiles that chance places."""
DEPTHS = ((2048, 6), (1024, 5), (0, 4))
"""Plies to look ahead, by the largest tile from which on."""


@dataclass(frozen=True, slots=True)
class Placement:
    """A tile on an empty cell."""

    cell: int
    tile: int


Play: TypeAlias = Slide | Placement


class Twenty48:
    """`Game` of slides, which maximise, and placements, which minimise.

    `skips` leaves out placements beside no tile, which neither merge nor stop anything at
    once, wherever there are others.
    """

    def __init__(self, grid: Grid, *, slider_to_move: bool = True, skips: bool = True) -> None:
        self.grid = grid
        self.maximiser_to_move = slider_to_move
        self._skips = skips
        self._before: list[Grid] = []

    @property
    def is_over(self) -> bool:
        """Whether the slider can't move; there is always room for a tile after a slide."""
        if self.maximiser_to_move:
            return next(self._slides(), None) is None
        return all(self.grid)

    @property
    def key(self) -> Hashable:
        """The grid and whose turn it is."""
        return self.grid, self.maximiser_to_move

    def moves(self) -> Sequence[Play]:
        """The slides that move a tile, or the placements, ascending by cell."""
        if self.maximiser_to_move:
            return list(self._slides())
        empty = [cell for cell, tile in enumerate(self.grid) if not tile]
        cells = [cell for cell in empty if self._matters(cell)] if self._skips else empty
        return [Placement(cell, tile) for cell in cells or empty for tile in TILES]

    def _slides(self) -> Iterator[Slide]:
        return (slide for slide in Slide if slid(self.grid, slide) != self.grid)

    def _matters(self, cell: int) -> bool:
        return any(self.grid[other] for other in neighbours(cell))

    def play(self, move: Play) -> None:
        """Slide, or place a tile."""
        self._before.append(self.grid)
        after = slid(self.grid, move) if isinstance(move, Slide) else placed(self.grid, move)
        self.grid = after
        self.maximiser_to_move = not self.maximiser_to_move

    def undo(self) -> None:
        """Take the last slide or tile back."""
        self.grid = self._before.pop()
        self.maximiser_to_move = not self.maximiser_to_move

    def evaluate(self) -> float:
        """The worth of the grid; nothing where the slider is stuck."""
        return 0 if self.is_over else grid_worth(self.grid)


def placed(grid: Grid, placement: Placement) -> Grid:
    """The grid with a tile more."""
    at = placement.cell
    return (*grid[:at], placement.tile, *grid[at + 1 :])


def depth_for(grid: Grid) -> int:
    """How many plies to look ahead: the larger the largest tile, the more."""
    return next(depth for tile, depth in DEPTHS if max(grid) >= tile)


def search(grid: Grid, depth: int | None = None) -> Found[Play]:
    """The slides to make, as deep as `depth_for` says if `depth` doesn't."""
    return alphabeta(Twenty48(grid), depth_for(grid) if depth is None else depth)


def any_placement(grid: Grid, rng: Random) -> Placement:
    """A tile on any empty cell, each as likely as the others; one in ten is a four.

    Raises:
        IndexError: no cell is empty.
    """
    cell = rng.choice([cell for cell, tile in enumerate(grid) if not tile])
    return Placement(cell, TILES[rng.random() < RARE])


def opening_grid(rng: Random) -> Grid:
    """A grid with two tiles, as every game begins."""
    grid = placed(EMPTY, any_placement(EMPTY, rng))
    return placed(grid, any_placement(grid, rng))

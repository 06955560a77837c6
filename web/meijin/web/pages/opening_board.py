"""The board of an explored position: its stones, and the moves that were played there."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

from meijin.game import Variant, cell_name
from meijin.game.board.coordinates import COLUMNS

CELL = 40
"""Between two lines, in units of the picture."""
MARGIN = 40
SMALLEST, LARGEST = 10, 19
"""Radii of marks."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in the picture."""

    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Label(Place):
    """The name of a column or row."""

    text: str


@dataclass(frozen=True, slots=True)
class Stone(Place):
    """A stone with the number of its move."""

    is_black: bool
    number: int


@dataclass(frozen=True, slots=True)
class Played:
    """A move that was played in the position."""

    cell: int
    address: str
    """Of the page after it; empty where openings are counted no further."""
    share: float
    """Of the position's games, 0 to 1."""
    score: float
    """Black's, 0 to 1."""
    favours: str
    """The side that has surely more than half of the points, or ``even``."""


@dataclass(frozen=True, slots=True)
class Mark(Place):
    """A move that was played, as it is shown."""

    name: str
    radius: int
    """Its area grows with the share of the games."""
    move: Played


@dataclass(frozen=True, slots=True)
class OpeningBoard:
    """A picture of a position."""

    width: int
    height: int
    lines: str
    """Of the grid, as a path of SVG."""
    labels: Sequence[Label]
    stones: Sequence[Stone]
    marks: Sequence[Mark]

    @classmethod
    def of(cls, variant: Variant, cells: Sequence[int], moves: Iterable[Played]) -> "OpeningBoard":
        """The picture of a position after some moves, with those that were played in it."""
        right, bottom = _at(variant.cells - 1, variant)
        columns = (f"M{MARGIN + each * CELL} {MARGIN}V{bottom}" for each in range(variant.width))
        rows = (f"M{MARGIN} {MARGIN + each * CELL}H{right}" for each in range(variant.height))
        return cls(
            width=right + MARGIN,
            height=bottom + MARGIN,
            lines="".join((*columns, *rows)),
            labels=_labels(variant, bottom),
            stones=[
                Stone(*_at(cell, variant), number % 2 == 1, number)
                for number, cell in enumerate(cells, start=1)
            ],
            marks=[_mark(move, variant) for move in moves],
        )


def _mark(move: Played, variant: Variant) -> Mark:
    radius = SMALLEST + round((LARGEST - SMALLEST) * sqrt(move.share))
    return Mark(*_at(move.cell, variant), cell_name(move.cell, variant), radius, move)


def _labels(variant: Variant, bottom: int) -> list[Label]:
    columns = [
        Label(MARGIN + each * CELL, bottom + MARGIN - 8, COLUMNS[each])
        for each in range(variant.width)
    ]
    rows = [
        Label(12, MARGIN + each * CELL + 5, str(variant.height - each))
        for each in range(variant.height)
    ]
    return columns + rows


def _at(cell: int, variant: Variant) -> tuple[int, int]:
    """The middle of a cell."""
    row, column = divmod(cell, variant.width)
    return MARGIN + column * CELL, MARGIN + row * CELL

"""The openings explorer: what was played in a position, and how it ended."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from math import sqrt

from meijin.game import (
    GOMOKU,
    Variant,
    cell_name,
    decode_moves,
    encode_moves,
    format_opening,
)
from meijin.game.board.coordinates import COLUMNS
from meijin.game.records.record import format_position, parse_position
from meijin.v1 import opening_service_pb2 as pb
from meijin.web.cache import LazyPage
from meijin.web.refusals import refusing_values
from meijin.web.request import Page, PageRequest
from meijin.wire.strength import Strength
from meijin.wire.values import variant_from_proto, variant_to_proto

MAX_AGE = timedelta(seconds=10)
"""Of a page: the worker counts no faster."""

GAP = MARGIN = 40
"""Between two lines of the board, and around them, in units of the picture."""
SMALLEST, LARGEST = 10, 19
"""Radii of marks."""


@dataclass(frozen=True, slots=True)
class OpeningQuery:
    """What is asked for."""

    variant: Variant
    cells: Sequence[int]
    strength: Strength | None
    """``None`` for games of every strength."""
    address: Callable[..., str]
    """The address of the page with other parameters."""

    @classmethod
    def of(cls, request: PageRequest) -> "OpeningQuery":
        """What an address asks for: a variant in one word or in several, moves, and a strength.

        Raises:
            Refusal: it can't be.
        """
        parts = (request.text(name) for name in ("rule", "size", "opening"))
        text = request.text("variant") or " ".join(part for part in parts if part)
        strength = request.text("strength")
        with refusing_values():
            variant = Variant.parse(text) if text else GOMOKU
            cells = parse_position(request.text("moves"), variant)
            return cls(variant, cells, Strength(strength) if strength else None, request.address)

    def after(self, cells: Sequence[int]) -> str:
        """The address of another position."""
        return self.address(moves=format_position(cells, self.variant) or None)

    def deeper(self, cell: int) -> str:
        """The address of the position after one more move."""
        return self.after((*self.cells, cell))


@dataclass(frozen=True, slots=True)
class BoardPicture:
    """Where things stand in the picture of a board."""

    variant: Variant

    @property
    def width(self) -> int:
        return 2 * MARGIN + (self.variant.width - 1) * GAP

    @property
    def height(self) -> int:
        return 2 * MARGIN + (self.variant.height - 1) * GAP

    @property
    def lines(self) -> str:
        """The grid, as a path of SVG."""
        right, bottom = self.width - MARGIN, self.height - MARGIN
        columns = (f"M{MARGIN + n * GAP} {MARGIN}V{bottom}" for n in range(self.variant.width))
        rows = (f"M{MARGIN} {MARGIN + n * GAP}H{right}" for n in range(self.variant.height))
        return "".join((*columns, *rows))

    @property
    def labels(self) -> Iterator[tuple[int, int, str]]:
        """The names of columns and rows, each with its place."""
        for column in range(self.variant.width):
            yield MARGIN + column * GAP, self.height - 8, COLUMNS[column]
        for row in range(self.variant.height):
            yield 12, MARGIN + row * GAP + 5, str(self.variant.height - row)

    def at(self, cell: int) -> tuple[int, int]:
        """The middle of a cell."""
        row, column = divmod(cell, self.variant.width)
        return MARGIN + column * GAP, MARGIN + row * GAP


async def show(request: PageRequest) -> LazyPage:
    position = OpeningQuery.of(request)
    variant, strength = position.variant, position.strength
    explored = await request.services.openings.Explore(
        pb.ExploreRequest(
            variant=variant_to_proto(variant),
            moves=encode_moves(position.cells),
            strength=strength.to_proto() if strength else pb.STRENGTH_BAND_UNSPECIFIED,
        )
    )
    return request.page(
        "openings.html",
        explored=explored,
        position=position,
        board=BoardPicture(variant),
        name=partial(cell_name, variant=variant),
        names=partial(format_opening, variant=variant),
        decoded=decode_moves,
        variants=partial(counted_variants, variant, explored),
        strength_of=Strength.from_proto,
        games_of=games_of,
        all_games=lambda: sum(games_of(each.results) for each in explored.strengths),
        favours=favours,
        radius=radius,
    )


def counted_variants(variant: Variant, explored: pb.ExploreResponse) -> Mapping[str, int]:
    """The games of variants that have some, and of that of the page, which may have none."""
    counted = {str(variant_from_proto(each.variant)): each.games for each in explored.variants}
    counted.setdefault(str(variant), 0)
    return counted


def favours(results: pb.OpeningResults) -> str:
    """Who has surely more than half of the points, or ``even``."""
    if results.black_score_low > 1 / 2:
        return "black"
    return "white" if results.black_score_high < 1 / 2 else "even"


def games_of(results: pb.OpeningResults) -> int:
    return results.black_wins + results.draws + results.white_wins


def radius(share: float) -> int:
    """That of the mark of a move, whose area grows with its share of the games."""
    return SMALLEST + round((LARGEST - SMALLEST) * sqrt(share))


ROUTES = (Page("/openings", show, MAX_AGE),)

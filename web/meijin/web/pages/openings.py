"""The openings explorer: what was played in a position, and how it ended."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from math import sqrt

from markupsafe import Markup

from meijin.game import (
    GOMOKU,
    Board,
    Variant,
    cell_name,
    decode_moves,
    encode_moves,
    format_opening,
)
from meijin.game.board.svg import board_svg, place
from meijin.game.records.record import format_position, parse_position
from meijin.v1 import opening_service_pb2 as pb
from meijin.web.cache import LazyPage
from meijin.web.refusals import refusing_values
from meijin.web.request import Page, PageRequest
from meijin.wire.strength import Strength
from meijin.wire.values import variant_from_proto, variant_to_proto

MAX_AGE = timedelta(seconds=10)
"""Of a page: the worker counts no faster."""

SMALLEST, LARGEST = 7, 11
"""Radii of marks."""


@dataclass(frozen=True, slots=True)
class OpeningQuery:
    """What is asked for."""

    board: Board
    strength: Strength | None
    """``None`` for games of every strength."""
    address: Callable[..., str]
    """The address of the page with other parameters."""

    @property
    def cells(self) -> Sequence[int]:
        return self.board.moves

    @property
    def variant(self) -> Variant:
        return self.board.variant

    def drawn(self, inside: str) -> Markup:
        """The board, with more elements over its stones."""
        return Markup(board_svg(self.board, inside=inside))  # noqa: S704 - made here

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
            board = Board.from_moves(parse_position(request.text("moves"), variant), variant)
            return cls(board, Strength(strength) if strength else None, request.address)

    def after(self, cells: Sequence[int]) -> str:
        """The address of another position."""
        return self.address(moves=format_position(cells, self.variant) or None)

    def deeper(self, cell: int) -> str:
        """The address of the position after one more move."""
        return self.after((*self.cells, cell))


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
        place=partial(place, variant=variant),
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

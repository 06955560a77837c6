"""The openings explorer: what was played in a position, and how it ended."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from meijin.game import GOMOKU, Variant, cell_name, decode_moves, encode_moves, format_opening
from meijin.game.records.position_string import format_position, parse_position
from meijin.v1 import game_pb2
from meijin.v1 import opening_service_pb2 as pb
from meijin.web.drafts import Draft
from meijin.web.pages.opening_board import OpeningBoard, Played
from meijin.web.refusals import bad_request
from meijin.web.routes import Page
from meijin.web.visit import Visit
from meijin.wire import outcome_from_proto, variant_from_proto, variant_to_proto
from meijin.wire.strength import Strength

MAX_AGE = timedelta(seconds=10)
"""Of a page: the worker counts no faster."""

Address = Callable[..., str]
"""The address of the page with other parameters."""


@dataclass(frozen=True, slots=True)
class ResultsLine:
    """How some games ended, with their share of the position's."""

    games: int
    share: float
    results: pb.OpeningResults


@dataclass(frozen=True, slots=True)
class MoveLine:
    """A move that was played, and where it leads."""

    name: str
    same: str
    """The names of the cells that symmetry makes the same move."""
    address: str
    """Empty where openings are counted no further."""
    game_id: str
    line: ResultsLine


@dataclass(frozen=True, slots=True)
class StrengthLine:
    """The games of a band, and where they are alone."""

    strength: Strength
    address: str
    is_chosen: bool
    line: ResultsLine


@dataclass(frozen=True, slots=True)
class Step:
    """A move that has led to the position, and the page after it."""

    name: str
    address: str


@dataclass(frozen=True, slots=True)
class VariantChoice:
    """A variant with counted games."""

    name: str
    games: int
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class GameLine:
    """A game that had the position."""

    game: game_pb2.Game
    result: str


@dataclass(frozen=True, slots=True)
class OpeningsView:
    """What the page shows."""

    variant: str
    moves: str
    """As a command takes them; empty for the empty board."""
    start: str
    """The address of the empty board."""
    steps: Sequence[Step]
    back: str
    """The address of one move before; empty on the empty board."""
    board: OpeningBoard
    black: str
    """The names of black's stones."""
    white: str
    total: ResultsLine
    ended: ResultsLine
    lines: Sequence[MoveLine]
    strengths: Sequence[StrengthLine]
    strength: Strength | None
    """``None`` where games of every strength are shown."""
    every_strength: str
    """The address of that."""
    games: Sequence[GameLine]
    variants: Sequence[VariantChoice]
    counted_games: int
    depth: int


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for."""

    variant: Variant
    cells: Sequence[int]
    strength: Strength | None
    address: Address

    def after(self, cells: Sequence[int]) -> str:
        """The address of another position."""
        return self.address(moves=format_position(cells, self.variant) or None)


async def openings(visit: Visit) -> Draft:
    """Show a position."""
    asked = _asked(visit)
    strength = pb.STRENGTH_BAND_UNSPECIFIED if asked.strength is None else asked.strength.to_proto()
    explored = await visit.services.openings.Explore(
        pb.ExploreRequest(
            variant=variant_to_proto(asked.variant),
            moves=encode_moves(asked.cells),
            strength=strength,
        )
    )
    return visit.page("openings.html", lambda: _view(asked, explored), explored)


def _asked(visit: Visit) -> Asked:
    """What the address asks for: a variant in one word or in several, moves, and a strength.

    Raises:
        Refusal: it can't be.
    """
    parts = (visit.text(name) for name in ("rule", "size", "opening"))
    text = visit.text("variant") or " ".join(part for part in parts if part)
    strength = visit.text("strength")
    try:
        variant = Variant.parse(text) if text else GOMOKU
        cells = parse_position(visit.text("moves"), variant)
        return Asked(variant, cells, Strength(strength) if strength else None, visit.address)
    except ValueError as error:
        raise bad_request(str(error)) from None


def _view(asked: Asked, explored: pb.ExploreResponse) -> OpeningsView:
    cells, variant = asked.cells, asked.variant
    games = _games(explored.results)
    of_all = sum(_games(each.results) for each in explored.strengths)
    return OpeningsView(
        variant=str(variant),
        moves=format_opening(cells, variant),
        start=asked.after(()),
        steps=[
            Step(cell_name(cell, variant), asked.after(cells[: place + 1]))
            for place, cell in enumerate(cells)
        ],
        back=asked.after(cells[:-1]) if cells else "",
        board=OpeningBoard.of(variant, cells, _played(asked, explored)),
        black=format_opening(cells[::2], variant),
        white=format_opening(cells[1::2], variant),
        total=_line(explored.results, games),
        ended=_line(explored.ended, games),
        lines=[_move_line(asked, explored, each, games) for each in explored.continuations],
        strengths=[_strength_line(asked, each, of_all) for each in explored.strengths],
        strength=asked.strength,
        every_strength=asked.address(strength=None),
        games=[GameLine(game, _result(game)) for game in explored.games],
        variants=_variants(variant, explored),
        counted_games=explored.counted_games,
        depth=explored.depth,
    )


def _played(asked: Asked, explored: pb.ExploreResponse) -> Iterator[Played]:
    """Every cell that was played on, its mirror images too."""
    games = _games(explored.results)
    for each in explored.continuations:
        line = _line(each.results, games)
        for cell in (each.cell, *decode_moves(each.same_cells)):
            address = _deeper(asked, explored, cell)
            score = line.results.black_score
            yield Played(cell, address, line.share, score, _favours(line.results))


def _move_line(
    asked: Asked, explored: pb.ExploreResponse, each: pb.Continuation, games: int
) -> MoveLine:
    return MoveLine(
        name=cell_name(each.cell, asked.variant),
        same=format_opening(decode_moves(each.same_cells), asked.variant),
        address=_deeper(asked, explored, each.cell),
        game_id=each.game_id,
        line=_line(each.results, games),
    )


def _strength_line(asked: Asked, each: pb.StrengthResults, games: int) -> StrengthLine:
    strength = Strength.from_proto(each.strength)
    return StrengthLine(
        strength=strength,
        address=asked.address(strength=strength),
        is_chosen=strength is asked.strength,
        line=_line(each.results, games),
    )


def _variants(variant: Variant, explored: pb.ExploreResponse) -> list[VariantChoice]:
    """Those with games, and that of the page, which may have none."""
    counted = {str(variant_from_proto(each.variant)): each.games for each in explored.variants}
    counted.setdefault(str(variant), 0)
    return [VariantChoice(name, games, name == str(variant)) for name, games in counted.items()]


def _deeper(asked: Asked, explored: pb.ExploreResponse, cell: int) -> str:
    is_last = len(asked.cells) >= explored.depth
    return "" if is_last else asked.after((*asked.cells, cell))


def _favours(results: pb.OpeningResults) -> str:
    """Who has surely more than half of the points."""
    if results.black_score_low > 1 / 2:
        return "black"
    return "white" if results.black_score_high < 1 / 2 else "even"


def _result(game: game_pb2.Game) -> str:
    return outcome_from_proto(game.outcome).result.value


def _line(results: pb.OpeningResults, games: int) -> ResultsLine:
    mine = _games(results)
    return ResultsLine(mine, mine / games if games else 0.0, results)


def _games(results: pb.OpeningResults) -> int:
    return results.black_wins + results.draws + results.white_wins


ROUTES = (Page("/openings", openings, MAX_AGE),)

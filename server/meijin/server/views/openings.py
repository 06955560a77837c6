"""Openings as they are shown: what was played in a position, and how it ended."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from sqlalchemy import Connection

from meijin.game import Variant
from meijin.game.board.canonical_position import CanonicalPosition, canonical_position
from meijin.ladder.statistics.score_interval import wilson_interval
from meijin.server.views.games import GameSummary, game_summary
from meijin.store.games import games_by_id
from meijin.store.openings.explored import (
    MoveCountRow,
    VariantCount,
    counted_games,
    counted_variants,
    moves_in,
)
from meijin.store.openings.games_to_count import DEPTH
from meijin.store.schema import GAME_ENDED, GameId, GameState, StrengthBand

SHOWN_GAMES = 10
"""Games of a position that are shown, at most."""

SHOWN_VARIANTS = 100


@dataclass(frozen=True, slots=True)
class OpeningResults:
    """How some games ended."""

    black_wins: int = 0
    draws: int = 0
    white_wins: int = 0

    @classmethod
    def of(cls, rows: Iterable[MoveCountRow]) -> Self:
        """Those of all games in some rows."""
        columns = [(row.black_wins, row.draws, row.white_wins) for row in rows]
        return cls(*map(sum, zip(*columns, strict=True)))

    @property
    def games(self) -> int:
        """How many they are."""
        return self.black_wins + self.draws + self.white_wins

    @property
    def black_score(self) -> float:
        """Black's share of the points; there has to be a game."""
        return self._points / self.games

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of black's score; there has to be a game."""
        return wilson_interval(self._points, self.games)

    @property
    def _points(self) -> float:
        return self.black_wins + self.draws / 2


@dataclass(frozen=True, slots=True)
class Continuation:
    """A move that was played in a position."""

    cell: int
    """On the board that was asked about."""
    same_cells: tuple[int, ...]
    """The others that symmetry makes the same move."""
    results: OpeningResults
    game_id: GameId
    """The last game that was counted with it."""


@dataclass(frozen=True, slots=True)
class ExploredPosition:
    """What was played in a position."""

    results: OpeningResults
    ended: OpeningResults
    """Of the games that ended in it."""
    continuations: Sequence[Continuation]
    """The move of the most games first."""
    strengths: Sequence[tuple[StrengthBand, OpeningResults]]
    """Of games of all bands that there are, the weakest first."""
    games: Sequence[GameSummary]
    """The newest first."""
    counted_games: int
    """Of all variants."""
    variants: Sequence[VariantCount]
    """The variants of ladders, that of most games first."""


def check_depth(moves: Sequence[int]) -> None:
    """Accept a position whose moves are counted.

    Raises:
        ValueError: it has more stones.
    """
    if len(moves) > DEPTH:
        raise ValueError(f"{len(moves)} moves; openings are counted to {DEPTH}: take the last away")


def explore(
    connection: Connection,
    variant: Variant,
    moves: Sequence[int],
    strength: StrengthBand | None = None,
) -> ExploredPosition:
    """What was played after some moves, all on the board, in any order and any mirror image.

    Args:
        strength: Only games of this band.
    """
    position = canonical_position(moves, variant)
    rows = moves_in(connection, position.key)
    chosen = [row for row in rows if strength in {None, row.band}]
    return ExploredPosition(
        results=OpeningResults.of(chosen),
        ended=OpeningResults.of(row for row in chosen if row.cell == GAME_ENDED),
        continuations=_continuations(position, chosen),
        strengths=_strengths(rows),
        games=_games(connection, chosen),
        counted_games=counted_games(connection),
        variants=counted_variants(connection, limit=SHOWN_VARIANTS),
    )


def _continuations(position: CanonicalPosition, rows: Iterable[MoveCountRow]) -> list[Continuation]:
    by_cell: dict[int, list[MoveCountRow]] = {}
    for row in rows:
        if row.cell != GAME_ENDED:
            by_cell.setdefault(row.cell, []).append(row)
    found = []
    for canonical_cell, mine in by_cell.items():
        cell, *same = position.cells_of(canonical_cell)
        last = max(row.game_id for row in mine)
        found.append(Continuation(cell, tuple(same), OpeningResults.of(mine), last))
    return sorted(found, key=lambda each: (-each.results.games, each.cell))


def _strengths(rows: Sequence[MoveCountRow]) -> list[tuple[StrengthBand, OpeningResults]]:
    bands = sorted({row.band for row in rows})
    return [(band, OpeningResults.of(row for row in rows if row.band == band)) for band in bands]


def _games(connection: Connection, rows: Iterable[MoveCountRow]) -> list[GameSummary]:
    """Some of the games, without those that were voided since."""
    newest = sorted({row.game_id for row in rows}, reverse=True)[:SHOWN_GAMES]
    found = games_by_id(connection, newest)
    return [game_summary(row, None) for row in reversed(found) if row.state is GameState.FINISHED]

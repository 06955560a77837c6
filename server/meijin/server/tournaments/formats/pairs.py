"""Pairs of games on one opening, and what has come of them."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Self, TypeAlias

from sqlalchemy import Connection

from meijin.game import Color, Result
from meijin.server.tournaments.formats.base import Format, openings_of
from meijin.server.tournaments.formats.crosstable import Crosstable
from meijin.server.tournaments.formats.report import Report
from meijin.server.tournaments.formats.schedule import deal
from meijin.store.ladders.versions import published_ratings
from meijin.store.schema import BotId
from meijin.store.tournaments import NewTournament, TournamentRow
from meijin.store.tournaments.match_counts import (
    GAMES_OF_A_PAIR,
    PairingResult,
    PlannedResult,
    planned_results,
)


class Seeding(Enum):
    """What the bots are ordered by."""

    LADDER = "ladder"
    """By the published ratings of the ladder of its variant and time control; those without one last, as given."""
    GIVEN = "given"
    """As they were given."""


def seeding_of(asked: NewTournament) -> Seeding:
    """What a tournament is to be ordered by; the ladder when that was left out."""
    return Seeding((asked.options or {}).get("seeding", Seeding.LADDER))


def seeded(connection: Connection, asked: NewTournament) -> tuple[BotId, ...]:
    """The bots of a tournament, the first seed first."""
    if seeding_of(asked) is Seeding.GIVEN:
        return asked.bots
    ratings = published_ratings(connection, asked.ladder)
    return tuple(sorted(asked.bots, key=lambda bot: -ratings.get(bot, float("-inf"))))


Scores: TypeAlias = Mapping[BotId, tuple[int, int, int]]
"""Of each bot its games won, drawn and lost; those without a result are left out."""


@dataclass(slots=True)
class Played:
    """Two games of two bots, each of whom has black in one of them."""

    round: int
    first: BotId
    second: BotId
    games: int = 0
    """Those with a result."""
    points: float = 0.0
    """The first bot's."""

    @property
    def bots(self) -> frozenset[BotId]:
        return frozenset((self.first, self.second))

    @property
    def is_over(self) -> bool:
        return self.games == GAMES_OF_A_PAIR

    def points_of(self, bot_id: BotId) -> float:
        return self.points if bot_id == self.first else self.games - self.points

    def add(self, black_id: BotId, result: Result) -> None:
        self.games += 1
        self.points += result.points(Color.BLACK if black_id == self.first else Color.WHITE)


def played_pairs(games: Iterable[PlannedResult]) -> list[Played]:
    """What is stored of a tournament whose games are all planned in pairs, by their numbers."""
    pairs: list[Played] = []
    for game in games:
        if game.number % GAMES_OF_A_PAIR:
            pairs.append(Played(game.round, game.black_id, game.white_id))
        if game.result is not None:
            pairs[-1].add(game.black_id, game.result)
    return pairs


def scores_of(games: Iterable[PlannedResult]) -> Scores:
    """Of each bot its games won, drawn and lost."""
    counts: dict[BotId, list[int]] = {}
    for game in games:
        if game.result is not None:
            for bot, color in ((game.black_id, Color.BLACK), (game.white_id, Color.WHITE)):
                place = round(2 - 2 * game.result.points(color))
                counts.setdefault(bot, [0, 0, 0])[place] += 1
    return {bot: (wins, draws, losses) for bot, (wins, draws, losses) in counts.items()}


class PairedFormat(Format):
    """Plans pairs of games as soon as it is known who meets whom.

    A game that is voided is played again, and what is planned stays.
    """

    def __init__(self, row: TournamentRow, games: Iterable[PlannedResult] = ()) -> None:
        """`games`: what is planned by now."""
        self.row = row
        self.pairs = played_pairs(games)
        """In the order in which they were planned."""
        self.bots = [bot for bot, _ in row.bots]
        """In the order of their seeds."""
        self._openings = openings_of(row)

    @classmethod
    def load(cls, connection: Connection, row: TournamentRow) -> Self:
        return cls(row, planned_results(connection, row.id))

    @classmethod
    def report(cls, connection: Connection, row: TournamentRow, crosstable: Crosstable) -> Report:
        games = planned_results(connection, row.id)
        return cls(row, games).report_by(scores_of(games))

    @abstractmethod
    def report_by(self, scores: Scores) -> Report:
        """The standings and all meetings, by the scores of the bots' games."""

    def count(self, result: PairingResult) -> Played:
        """Count a game for its pair, and return the pair."""
        pair = self.pairs[(result.number - 1) // GAMES_OF_A_PAIR]
        pair.add(result.black_id, result.result)
        return pair

    def deck(self, number: int) -> Iterator[bytes]:
        """The openings of a round or a tie, without end."""
        return deal(self._openings, self.row.seed, number)

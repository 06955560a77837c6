"""Pairs of games on one opening, and what has come of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from meijin.game import Color, Result
from meijin.store.schema import BotId
from meijin.store.tournaments.match_counts import GAMES_OF_A_PAIR, PairingResult, PlannedResult

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
        """The two."""
        return frozenset((self.first, self.second))

    @property
    def is_over(self) -> bool:
        """Whether both games have a result."""
        return self.games == GAMES_OF_A_PAIR

    def points_of(self, bot_id: BotId) -> float:
        """One of the two bots' points."""
        return self.points if bot_id == self.first else self.games - self.points

    def add(self, black_id: BotId, result: Result) -> None:
        """A game has a result."""
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


def count(pairs: Sequence[Played], result: PairingResult) -> Played:
    """Count a game for its pair, and return the pair."""
    pair = pairs[(result.number - 1) // GAMES_OF_A_PAIR]
    pair.add(result.black_id, result.result)
    return pair


def missing_games(pairs: Iterable[Played]) -> int:
    """How many games have no result."""
    return sum(GAMES_OF_A_PAIR - pair.games for pair in pairs)


def scores_of(games: Iterable[PlannedResult]) -> Scores:
    """Of each bot its games won, drawn and lost."""
    counts: dict[BotId, list[int]] = {}
    for game in games:
        if game.result is not None:
            for bot, color in ((game.black_id, Color.BLACK), (game.white_id, Color.WHITE)):
                place = round(2 - 2 * game.result.points(color))
                counts.setdefault(bot, [0, 0, 0])[place] += 1
    return {bot: (wins, draws, losses) for bot, (wins, draws, losses) in counts.items()}

"""Tournaments by pairs of games that a judge decides, with all that would be stored of them."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from tests.server.rows import tournament_row

from meijin.game import Result
from meijin.server.tournaments.formats.base import Capacity, GamePair
from meijin.server.tournaments.formats.pairs import PairedFormat, scores_of
from meijin.server.tournaments.formats.report import Report
from meijin.store.schema import BotId
from meijin.store.tournaments.match_counts import PairingResult, PlannedResult

OPENINGS = tuple(bytes((cell, 0)) for cell in range(5))
NOBODY = Capacity({}, waiting=0, held={}, room=0)
NO_STORAGE: Any = None
WIN, DRAW, LOSS = Result.BLACK_WINS, Result.DRAW, Result.WHITE_WINS

Judge = Callable[[PlannedResult], Result]
F = TypeVar("F", bound=PairedFormat)


def stronger(game: PlannedResult) -> Result:
    return WIN if game.black_id < game.white_id else LOSS


def drawn(_: PlannedResult) -> Result:
    return DRAW


def by_seed(seed: int) -> Judge:
    """Any result, the same for the same game, and many of them drawn."""
    results = (WIN, DRAW, DRAW, LOSS)
    return lambda game: results[
        hash((seed, game.round, game.black_id, game.white_id, game.number % 3)) % 4
    ]


class Judged(Generic[F]):
    """A tournament of bots 1, 2, 3 and so on, in the order of their seeds."""

    def __init__(self, kind: type[F], count: int, **settings: Any) -> None:
        self.bots = tuple((BotId(number), f"bot-{number}") for number in range(1, count + 1))
        self.games: list[PlannedResult] = []
        self._kind = kind
        self._row = tournament_row(bots=self.bots, openings=OPENINGS, seed=7, **settings)
        self.format = self.load()

    def load(self) -> F:
        return self._kind(self._row, self.games)

    def plan(self, capacity: Capacity = NOBODY) -> Sequence[GamePair]:
        pairs = asyncio.run(self.format.next_pairs(capacity, NO_STORAGE))
        for pair in pairs:
            first = len(self.games) + 1
            for number, game in enumerate(pair.games(first), start=first):
                self.games.append(
                    PlannedResult(number, game.round, game.black_id, game.white_id, None)
                )
        return pairs

    def play(self, judge: Judge, number: int | None = None) -> None:
        for place, game in enumerate(self.games):
            if game.result is None and number in {None, game.number}:
                result = judge(game)
                self.games[place] = game._replace(result=result)
                self.format.game_ended(
                    PairingResult(game.number, game.black_id, game.white_id, result)
                )

    def play_all(self, judge: Judge) -> list[Sequence[GamePair]]:
        """Plan and play until it is decided; what was planned together."""
        rounds = []
        while not self.format.is_decided:
            rounds.append(self.plan())
            self.play(judge)
        return rounds

    def play_broken(self, judge: Judge, stop: int) -> None:
        """The same by formats that are made anew all the time; some games end unseen."""
        while not self.format.is_decided:
            self.plan()
            for place, game in enumerate(self.games):
                if game.result is None and place < stop:
                    self.games[place] = game._replace(result=judge(game))
            self.format = self.load()
            self.play(judge)
            self.format = self.load()

    def void(self, number: int) -> None:
        """Take a finished game back; the format is made anew."""
        self.games[number - 1] = self.games[number - 1]._replace(result=None)
        self.format = self.load()

    def report(self) -> Report:
        return self.format.report_by(scores_of(self.games))


def assert_same_when_broken(whole: Judged[F], broken: Judged[F], seed: int, stop: int) -> None:
    """Formats that are made anew all the time come to the same games and report."""
    whole.play_all(by_seed(seed))
    broken.play_broken(by_seed(seed), stop)
    assert broken.games == whole.games
    assert broken.format.is_decided
    assert broken.report() == whole.report()

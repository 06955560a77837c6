"""Games of bots whose strengths are known, and two ways to pair them without looking ahead."""

import numpy as np

from meijin.ladder.statistics.fit.bradley_terry import Outcomes
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, PairCounts

OUTCOMES = Outcomes(advantage=60.0, draws=40.0)
"""One game in ten between equals is drawn."""
LEAST_SPREAD = 500.0
"""Of the Go server's pairing, in Elo."""
GAP_SPREAD = 1.5
NEIGHBOURS = 4

Seats = tuple[Integers, Integers]
"""Who moves first in some games, and who second."""


class SimulatedGames:
    """Games so far of players numbered 0, 1, ..."""

    def __init__(self, strengths: Floats, rng: np.random.Generator) -> None:
        self.strengths = strengths
        self._rng = rng
        self._results = np.zeros((3, len(strengths), len(strengths)))
        self.count = 0
        self.as_first = np.zeros(len(strengths), dtype=np.int64)
        """How often each has moved first."""

    def play(self, first: Integers, second: Integers) -> None:
        """Play some games."""
        difference = self.strengths[first] - self.strengths[second]
        luck = self._rng.random(len(first))
        lost = luck < OUTCOMES.losses(difference)
        won = luck > 1 - OUTCOMES.wins(difference)
        results = np.where(won, 0, np.where(lost, 2, 1))
        np.add.at(self._results, (results, first, second), 1)
        np.add.at(self.as_first, first, 1)
        self.count += len(first)

    @property
    def counts(self) -> PairCounts:
        """The results of those who have met."""
        return self._counts(*np.nonzero(self._results.sum(axis=0)))

    @property
    def all_counts(self) -> PairCounts:
        """The results, with rows for those too who have not met: they keep everyone in a fit."""
        return self._counts(*np.nonzero(~np.eye(len(self.strengths), dtype=bool)))

    def _counts(self, first: Integers, second: Integers) -> PairCounts:
        wins, draws, losses = self._results[:, first, second]
        return PairCounts(first, second, wins, draws, losses)


def go_server_round(
    players: Integers, elo: Floats, as_first: Integers, rng: np.random.Generator
) -> Seats:
    """One round as the Computer Go Server pairs it: everyone of `players` but for an odd one.

    They are sorted by their rating and some luck, as much as the widest gap over four
    neighbours makes necessary; neighbours meet, and who has moved first less often does so.
    """
    ratings = np.sort(elo[players])
    reach = min(NEIGHBOURS, len(players) - 1)
    widest = float((ratings[reach:] - ratings[: len(ratings) - reach]).max())
    luck = rng.random(len(players)) * max(LEAST_SPREAD, GAP_SPREAD * widest)
    order = players[np.argsort(elo[players] + luck)]
    one, other = order[: len(order) // 2 * 2].reshape(-1, 2).T
    turned = as_first[one] > as_first[other]
    return np.where(turned, other, one), np.where(turned, one, other)


def round_robin(players: int, rng: np.random.Generator) -> Seats:
    """Everyone against everyone with both colours, in an order by lot."""
    first, second = np.nonzero(~np.eye(players, dtype=bool))
    order = rng.permutation(len(first))
    return first[order], second[order]

"""Random walk of strengths: whether they wander while games are played, and by how much.

Nyblom's statistic (Testing for the constancy of parameters over time, 1989) of each player, added
up: the cumulated residuals of who stays as it is are a Brownian bridge, and the mean square of that
is 1/6 with a variance of 1/45; a walk adds to it in proportion to its variance. It is the score test
of a random walk, which no other test beats where walks are small.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from meijin.ladder.statistics.diagnosis.drift import FEWEST_GAMES, ResidualsOverTime
from meijin.ladder.statistics.fit.bradley_terry import ELO_PER_NAT, Fit
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, PairCounts

BRIDGE_MEAN, BRIDGE_VARIANCE = 1 / 6, 1 / 45
"""Of the mean square of a Brownian bridge."""
WALK_SQUARE = 1 / 90
"""What a walk adds to that, for each unit of its variance over all games by that of the score."""
MEAN_SQUARE = 1 / 3
"""Of the distance between a walk's end and its mean, for each unit of its variance."""
PRIOR_PLAYERS = 10.0
"""The prior weighs as much as so many players who never change, unless a walk is sure."""
SURE = 3.0
"""Deviations above its mean at which the sum is no more taken for chance: in about 0.5 % of pools
without a walk."""


@dataclass(frozen=True, slots=True)
class RandomWalk:
    """A walk that all strengths take: a step of one deviation after each game."""

    step: float
    """The deviation of a step that is allowed for, in Elo."""
    deviations: float
    """How sure it is: about standard normal where strengths stay."""

    @classmethod
    def of(cls, fit: Fit, counts: PairCounts, times: Integers) -> Self:
        """The walk that games told by time speak for; see `Drift.of`."""
        over = ResidualsOverTime.of(fit, counts, times)
        is_tested = (over.games.sum(axis=1) >= FEWEST_GAMES) & (over.variances.sum(axis=1) > 0)
        if not is_tested.any():
            return cls(0.0, 0.0)
        excess, per_square = _nyblom(over.of_players(is_tested))
        players = max(int(is_tested.sum()) - 1, 1)  # all residuals together are 0
        deviations = float(excess.mean()) * (players / BRIDGE_VARIANCE) ** 0.5
        weight = float(per_square @ per_square)
        prior = 0.0 if deviations > SURE else PRIOR_PLAYERS * weight / len(excess)
        square = float(excess @ per_square) / max(weight + prior, np.finfo(float).tiny)
        return cls(ELO_PER_NAT * max(square, 0.0) ** 0.5, deviations)

    @property
    def is_sure(self) -> bool:
        """Whether strengths surely wander."""
        return self.deviations > SURE

    def variances(self, games: Floats) -> Floats:
        """Of what each strength is now beside its mean over its games; Elo squared; shape (n,).

        Args:
            games: Everyone's; shape (n,).
        """
        return self.step**2 * games * MEAN_SQUARE


STILL = RandomWalk(0.0, 0.0)
"""The walk of strengths that stay."""


def _nyblom(over: ResidualsOverTime) -> tuple[Floats, Floats]:
    """By how much the statistic of each player is above its mean, and what a square nat a game adds."""
    whole = over.variances.sum(axis=1, keepdims=True)
    share = over.variances / whole
    passed = np.cumsum(share, axis=1)
    residuals = over.residuals
    bridge = np.cumsum(residuals, axis=1) - passed * residuals.sum(axis=1, keepdims=True)
    mean = (share * passed * (1 - passed)).sum(axis=1)
    excess: Floats = (share * bridge**2).sum(axis=1) / whole[:, 0] - mean
    information = over.slopes.sum(axis=1) ** 2 / whole[:, 0]
    seen = mean / BRIDGE_MEAN  # less where a player's games fell in few of the times
    per_square: Floats = over.games.sum(axis=1) * information * seen * WALK_SQUARE
    return excess, per_square

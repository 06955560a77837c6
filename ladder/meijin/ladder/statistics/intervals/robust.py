"""The robust covariance of a fit: its intervals hold where games are not of independent luck.

A fit's errors are V u, with the model's covariance V and u the sums of the games' scores, so their
covariance is V M V (the sandwich of Huber 1967 and White 1982; by clusters, Liang & Zeger,
Longitudinal data analysis using generalized linear models, 1986). The scores of two players' games
are opposite, hence M is a graph Laplacian, with the variance of each pair's score as its weight.
The model expects that to be the pair's information, and then V M V is V but for the prior. Here it
is what the variance components expect, not the pair's own squared score: of the few pairs that a
player has met, these are too noisy (Pustejovsky & Tipton 2018), and the covariance would sink where
chance was kind.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from meijin.ladder.statistics.diagnosis.residuals import FEWEST_GAMES, Points, points_over_time
from meijin.ladder.statistics.fit.bradley_terry import ELO_PER_NAT, Fit
from meijin.ladder.statistics.fit.covariance import Covariance, covariance
from meijin.ladder.statistics.fit.laplacian import Laplacian
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, PairCounts
from meijin.ladder.statistics.intervals.overdispersion import (
    ClusteredPairs,
    Leverage,
    Overdispersion,
    clustered_pairs,
    overdispersion,
)

BRIDGE_MEAN, BRIDGE_VARIANCE = 1 / 6, 1 / 45
"""Of the mean square of a Brownian bridge."""
WALK_SQUARE = 1 / 90
"""What a walk adds to that, for each unit of its variance over all games by that of the score."""
MEAN_SQUARE = 1 / 3
"""Of the distance between a walk's end and its mean, for each unit of its variance."""
PRIOR_PLAYERS = 10.0
"""Players who never change that the prior weighs as much as, unless a walk is sure."""
SURE = 3.0
"""Deviations above its mean at which the sum is no more taken for chance: in about 0.5 % of pools
without a walk."""


@dataclass(frozen=True, slots=True)
class RandomWalk:
    """A random walk that all strengths take: a step of one deviation after each game.

    Nyblom's statistic (Testing for the constancy of parameters over time, 1989) of each player, added
    up: the cumulated residuals of who stays as it is are a Brownian bridge, and the mean square of
    that is 1/6 with a variance of 1/45; a walk adds to it in proportion to its variance. It is the
    score test of a random walk, which no other test beats where walks are small.
    """

    step: float
    """The deviation of a step that is allowed for, in Elo."""
    deviations: float
    """How sure it is: about standard normal where strengths stay."""

    @classmethod
    def of(cls, fit: Fit, counts: PairCounts, times: Integers) -> Self:
        """The walk that games told by time speak for; see `Drift.of`."""
        over = points_over_time(fit, counts, times)
        is_tested = (over.games.sum(axis=1) >= FEWEST_GAMES) & (over.variance.sum(axis=1) > 0)
        if not is_tested.any():
            return cls(0.0, 0.0)
        excess, per_square = _nyblom(over.mapped(lambda column: column[is_tested]))
        players = max(int(is_tested.sum()) - 1, 1)  # all residuals together are 0
        deviations = float(excess.mean()) * (players / BRIDGE_VARIANCE) ** 0.5
        weight = float(per_square @ per_square)
        prior = 0.0 if deviations > SURE else PRIOR_PLAYERS * weight / len(excess)
        square = float(excess @ per_square) / max(weight + prior, np.finfo(float).tiny)
        return cls(ELO_PER_NAT * max(square, 0.0) ** 0.5, deviations)

    @property
    def is_sure(self) -> bool:
        return self.deviations > SURE

    def variances(self, games: Floats) -> Floats:
        """Of what each strength is now beside its mean over its games; Elo squared; shape (n,).

        Args:
            games: Everyone's; shape (n,).
        """
        return self.step**2 * games * MEAN_SQUARE


STILL = RandomWalk(0.0, 0.0)
"""The walk of strengths that stay."""


def _nyblom(over: Points) -> tuple[Floats, Floats]:
    """By how much the statistic of each player is above its mean, and what a square nat a game adds."""
    whole = over.variance.sum(axis=1, keepdims=True)
    share = over.variance / whole
    passed = np.cumsum(share, axis=1)
    residuals = over.residual
    bridge = np.cumsum(residuals, axis=1) - passed * residuals.sum(axis=1, keepdims=True)
    mean = (share * passed * (1 - passed)).sum(axis=1)
    excess: Floats = (share * bridge**2).sum(axis=1) / whole[:, 0] - mean
    information = over.slope.sum(axis=1) ** 2 / whole[:, 0]
    seen = mean / BRIDGE_MEAN  # less where a player's games fell in few of the times
    per_square: Floats = over.games.sum(axis=1) * information * seen * WALK_SQUARE
    return excess, per_square


@dataclass(frozen=True, slots=True, eq=False)
class RobustCovariance:
    """A robust covariance, and what it was widened for."""

    covariance: Covariance
    model: Covariance
    """By the model alone."""
    overdispersion: Overdispersion
    walk: RandomWalk
    factor: float
    """How much wider intervals around the mean of all are than by the model alone (root mean
    square); 1 where the model holds."""


def robust_covariance(fit: Fit, walk: RandomWalk = STILL) -> RobustCovariance:
    """Estimate how overdispersed the games of a fit are, and its covariance with that.

    Args:
        walk: That the strengths take; by it they are less sure now than over all their games.
    """
    model, pairs = covariance(fit), clustered_pairs(fit)
    alike, shared = (
        _sandwich(model, pairs, weights) for weights in (pairs.most_alike, pairs.shared)
    )
    leverage = (
        each.of_differences(pairs.first, pairs.second) / ELO_PER_NAT**2
        for each in (model, alike, shared)
    )
    found = overdispersion(pairs, Leverage(*leverage))
    start, walked = len(model.older), walk.variances(fit.games_of_players)
    robust = model.plus(alike, found.correlation).plus(shared, found.pair_variance)
    robust = robust.plus(Covariance(np.diag(walked[start:]), walked[:start]))
    factor = _factor(robust, model, len(fit.players))
    return RobustCovariance(robust, model, found, walk, factor)


def _sandwich(model: Covariance, pairs: ClusteredPairs, weights: Floats) -> Covariance:
    """The product V L V, with the Laplacian L of some weights."""
    start, bread, older = len(model.older), model.matrix / ELO_PER_NAT, model.older / ELO_PER_NAT
    if not weights.any():
        return Covariance(np.zeros_like(bread), np.zeros_like(older))
    meat = Laplacian(pairs.first, pairs.second, weights, np.zeros(start + len(bread)))
    product = bread @ meat.dense(start) @ bread
    return Covariance((product + product.T) / 2, older**2 * meat.diagonal[:start])


def _factor(robust: Covariance, model: Covariance, players: int) -> float:
    weights = np.full(players, 1 / max(players, 1))
    before = float(model.from_mean(weights).sum())
    return (float(robust.from_mean(weights).sum()) / before) ** 0.5 if before > 0 else 1.0

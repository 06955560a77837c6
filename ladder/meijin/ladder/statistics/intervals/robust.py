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

import numpy as np

from meijin.ladder.statistics.fit.bradley_terry import ELO_PER_NAT, Fit
from meijin.ladder.statistics.fit.covariance import Covariance, DenseCovariance, covariance
from meijin.ladder.statistics.fit.laplacian import Laplacian
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, sums
from meijin.ladder.statistics.intervals.overdispersion import (
    ClusteredPairs,
    Leverage,
    Overdispersion,
    clustered_pairs,
    overdispersion,
)
from meijin.ladder.statistics.intervals.random_walk import STILL, RandomWalk


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


@dataclass(frozen=True, slots=True, eq=False)
class ScaledCovariance:
    """A covariance with everyone's errors scaled by a factor of its own: of large pools."""

    model: Covariance
    variances: Floats
    """By what everyone's variance is multiplied; shape (n,)."""

    def of_differences(self, one: Integers, other: Integers) -> Floats:
        """See `Covariance`."""
        scale = (self.variances[one] + self.variances[other]) / 2
        return scale * self.model.of_differences(one, other)

    def from_mean(self, weights: Floats) -> Floats:
        """See `Covariance`."""
        return self.variances * self.model.from_mean(weights)


@dataclass(frozen=True, slots=True, eq=False)
class WanderingCovariance:
    """A covariance with errors of each player's own beside it: of large pools."""

    still: Covariance
    own: Floats
    """Variances; shape (n,)."""

    def of_differences(self, one: Integers, other: Integers) -> Floats:
        """See `Covariance`."""
        own = np.where(one == other, 0.0, self.own[one] + self.own[other])
        return self.still.of_differences(one, other) + own

    def from_mean(self, weights: Floats) -> Floats:
        """See `Covariance`."""
        own: Floats = (1 - 2 * weights) * self.own + weights**2 @ self.own
        return self.still.from_mean(weights) + own


def robust_covariance(fit: Fit, walk: RandomWalk = STILL) -> RobustCovariance:
    """Estimate how overdispersed the games of a fit are, and its covariance with that.

    Args:
        walk: That the strengths take; by it they are less sure now than over all their games.
    """
    model, pairs = covariance(fit), clustered_pairs(fit)
    if isinstance(model, DenseCovariance):
        found, robust = _dense(model, pairs)
    else:
        found, robust = _scaled(model, pairs, len(fit.players))
    if walk.step:
        robust = _with_walk(robust, walk.variances(fit.games_of_players))
    factor = _factor(robust, model, len(fit.players))
    return RobustCovariance(robust, model, found, walk, factor)


def _with_walk(covariance: Covariance, own: Floats) -> Covariance:
    if isinstance(covariance, DenseCovariance):
        return DenseCovariance(covariance.matrix + np.diag(own))
    return WanderingCovariance(covariance, own)


def _dense(model: DenseCovariance, pairs: ClusteredPairs) -> tuple[Overdispersion, Covariance]:
    matrix = model.matrix / ELO_PER_NAT**2
    alike, shared = (
        _sandwich(matrix, pairs, weights) for weights in (pairs.most_alike, pairs.shared)
    )
    own, by_correlation, by_pairs = (
        DenseCovariance(each).of_differences(pairs.first, pairs.second)
        for each in (matrix, alike, shared)
    )
    found = overdispersion(pairs, Leverage(own, by_correlation, by_pairs))
    added = found.correlation * alike + found.pair_variance * shared
    return found, DenseCovariance(model.matrix + ELO_PER_NAT**2 * added)


def _sandwich(matrix: Floats, pairs: ClusteredPairs, weights: Floats) -> Floats:
    """The product V L V, with the Laplacian L of some weights."""
    if not weights.any():
        return np.zeros_like(matrix)
    meat = Laplacian(pairs.first, pairs.second, weights, np.zeros(len(matrix))).dense()
    product = matrix @ meat @ matrix
    symmetric: Floats = (product + product.T) / 2
    return symmetric


def _scaled(
    model: Covariance, pairs: ClusteredPairs, players: int
) -> tuple[Overdispersion, Covariance]:
    """Everyone's variance by what its own games have; the fit follows a pair as if all were alike."""
    own = model.of_differences(pairs.first, pairs.second) / ELO_PER_NAT**2
    whole = max(float(pairs.information.sum()), np.finfo(float).tiny)
    by_correlation, by_pairs = (
        own * float(weights.sum()) / whole for weights in (pairs.most_alike, pairs.shared)
    )
    found = overdispersion(pairs, Leverage(own, by_correlation, by_pairs))
    excess, information = (
        sums(pairs.first, column, players) + sums(pairs.second, column, players)
        for column in (found.excess(pairs), pairs.information)
    )
    ratio = np.divide(excess, information, out=np.zeros(players), where=information > 0)
    return found, ScaledCovariance(model, 1 + ratio)


def _factor(robust: Covariance, model: Covariance, players: int) -> float:
    weights = np.full(players, 1 / max(players, 1))
    before = float(model.from_mean(weights).sum())
    return (float(robust.from_mean(weights).sum()) / before) ** 0.5 if before > 0 else 1.0

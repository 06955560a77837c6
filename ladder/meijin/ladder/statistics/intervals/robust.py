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
from meijin.ladder.statistics.fit.covariance import Covariance, covariance
from meijin.ladder.statistics.fit.laplacian import Laplacian
from meijin.ladder.statistics.fit.pair_counts import Floats
from meijin.ladder.statistics.intervals.overdispersion import (
    ClusteredPairs,
    Overdispersion,
    clustered_pairs,
    overdispersion,
)


@dataclass(frozen=True, slots=True, eq=False)
class RobustCovariance:
    """A robust covariance, and what it was widened for."""

    covariance: Covariance
    model: Covariance
    """By the model alone."""
    overdispersion: Overdispersion
    factor: float
    """How much wider intervals around the mean of all are than by the model alone (root mean
    square); 1 where the model holds."""


def robust_covariance(fit: Fit, walked: Floats | None = None) -> RobustCovariance:
    """Estimate how overdispersed the games of a fit are, and its covariance with that.

    Args:
        walked: The square of what each strength is now off its mean over its games, in Elo squared,
            shape (n,); 0 without it.
    """
    bread, pairs = covariance(fit), clustered_pairs(fit)
    own = bread.of_differences(pairs.first, pairs.second) / ELO_PER_NAT**2
    found, model = overdispersion(pairs, own), bread
    if fit.prior.opening:
        model += _sandwich(bread, pairs, pairs.by_opening)
    robust = model
    if found.correlation or found.pair_variance:
        robust += _sandwich(bread, pairs, found.excess(pairs))
    if walked is not None:
        start = len(model.older)
        robust += Covariance(np.diag(walked[start:]), walked[:start])
    factor = _factor(robust, model, len(fit.players))
    return RobustCovariance(robust, model, found, factor)


def _sandwich(model: Covariance, pairs: ClusteredPairs, weights: Floats) -> Covariance:
    """The product V L V, with the Laplacian L of some weights."""
    start, bread, older = len(model.older), model.matrix / ELO_PER_NAT, model.older / ELO_PER_NAT
    meat = Laplacian(pairs.first, pairs.second, weights, np.zeros(start + len(bread)))
    product = bread @ meat.dense(start) @ bread
    return Covariance((product + product.T) / 2, older**2 * meat.diagonal[:start])


def _factor(robust: Covariance, model: Covariance, players: int) -> float:
    weights = np.full(players, 1 / max(players, 1))
    before = float(model.from_mean(weights).sum())
    return (float(robust.from_mean(weights).sum()) / before) ** 0.5 if before > 0 else 1.0

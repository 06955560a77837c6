"""Goodness of fit: whether the results of pairs scatter as one strength a player lets them."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from meijin.ladder.statistics.diagnosis.residuals import PairResiduals, chi_square_tail
from meijin.ladder.statistics.fit.bradley_terry import ELO_PER_NAT
from meijin.ladder.statistics.fit.covariance import NO_VARIANCE
from meijin.ladder.statistics.fit.pair_counts import Floats, sums

FIT_LEVEL = 0.02
"""The p-value below which a fit is rejected."""
ENOUGH = 1.0
"""The least variance of a pair's points, that of four games of equals, to be in a chi-square: of
fewer, one upset would outweigh all others."""


@dataclass(frozen=True, slots=True)
class GoodnessOfFit:
    """Whether pairs scatter as they should, and by how much more they do."""

    p_value: float
    """The chance of so much scatter where the model holds."""
    chi_square: float
    """Pearson's, over the pairs with enough games."""
    deviance: float
    """The likelihood-ratio statistic of the same pairs."""
    freedom: float
    """What both should be: the pairs, less what the fit takes of them."""
    pairs: int
    """How many have enough games."""
    deviation: float
    """Of the differences of pairs from those of their ratings, over luck; Elo."""

    @property
    def is_rejected(self) -> bool:
        """Whether the pairs scatter more than chance explains."""
        return self.p_value < FIT_LEVEL

    @property
    def overdispersion(self) -> float:
        """How much more the scores scatter than by luck alone; 1 where the model holds."""
        return self.chi_square / self.freedom if self.freedom > 0 else 1.0

    @classmethod
    def of(cls, residuals: PairResiduals) -> Self:
        """The goodness of fit over all pairs."""
        enough = residuals.is_tested & (residuals.points.variance >= ENOUGH)
        terms, p_value = _Terms.of(residuals), 1.0
        if residuals.is_tested.any():
            whole = (each.sum(keepdims=True) for each in (terms.value, terms.mean, terms.variance))
            p_value = float(_tail(*whole)[0])
        chi_square = float((residuals.pearson[enough] ** 2).sum())
        freedom = float(residuals.rest[enough].sum())
        information = float((residuals.information * residuals.rest)[enough].sum())
        excess = max(chi_square - freedom, 0.0) / information if information else 0.0
        return cls(
            p_value=p_value,
            chi_square=chi_square,
            deviance=float((residuals.deviance_roots()[enough] ** 2).sum()),
            freedom=freedom,
            pairs=int(enough.sum()),
            deviation=ELO_PER_NAT * excess**0.5,
        )


def scatter_by_player(residuals: PairResiduals, players: int) -> Floats:
    """Of each player, the chance that its own pairs scatter so much where the model holds; shape (n,)."""
    terms = _Terms.of(residuals)
    return _tail(
        *(
            sums(residuals.one, column, players) + sums(residuals.other, column, players)
            for column in (terms.value, terms.mean, terms.variance)
        )
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Terms:
    """What each pair adds to a test of scatter, to its mean and its variance; shapes (k,)."""

    value: Floats
    mean: Floats
    variance: Floats

    @classmethod
    def of(cls, residuals: PairResiduals) -> Self:
        """Squares of Pearson's residuals, weighted by the root of what each pair informs.

        Without weights it is Pearson's chi-square; with the information itself it is the score
        test of overdispersion (Dean, Testing for overdispersion in Poisson and binomial
        regression models, 1992), the best where all pairs depart alike. Between the two, it
        found circles in most simulated pools, and one upset of a pair with few games weighs
        little. As a quadratic form in independent scores it has the variance 2 tr(M^2) + the
        sum of their excess kurtoses times the squares of M's diagonal; M takes the fit away,
        nearly a projection, so that tr(M^2) is about tr(M).
        """
        points, rest = residuals.points, residuals.rest
        weight = np.where(residuals.is_tested, np.sqrt(residuals.information), 0.0)
        kurtosis = points.fourth / np.where(residuals.is_tested, points.variance, 1.0) ** 2
        variance = weight**2 * np.maximum(2 * rest + kurtosis * rest**2, 0.0)
        return cls(weight * residuals.pearson**2, weight * rest, variance)


def _tail(value: Floats, mean: Floats, variance: Floats) -> Floats:
    """By the scaled chi-square of that mean and variance, since pairs may have few games.

    (Satterthwaite, An approximate distribution of estimates of variance components, 1946; of
    sparse tables, McCullagh, On the asymptotic distribution of Pearson's statistic in linear
    exponential-family models, 1985.)
    """
    scale = np.where(variance > 0, variance, 1.0) / np.maximum(2 * mean, NO_VARIANCE)
    return chi_square_tail(value / scale, np.where(variance > 0, mean / scale, 0.0))

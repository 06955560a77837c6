"""Covariance of a fit: variances of differences, and the likelihood of superiority (LOS)."""

import math
from dataclasses import dataclass, field

import numpy as np

from meijin.ladder.statistics.fit.bradley_terry import ELO_PER_NAT, Fit
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers

Z_95 = 1.959963984540054
"""Deviations to either side that 95 % of a normal distribution lies within."""
JOINT = 1_500
"""The most versions whose errors are joint: of 3,000, intervals take 6 s and 430 MB, of these 1 and
110."""
NO_VARIANCE = 1e-200
"""Stands for 0 in a denominator."""


@dataclass(frozen=True, slots=True, eq=False)
class Covariance:
    """The covariance of the errors of a fit's strengths, in Elo squared.

    Strengths are known up to a common shift, so that only differences have a variance. Of a large
    pool the errors of the newest versions, the last places in the fit, are joint, and those of the
    older ones independent.
    """

    matrix: Floats
    """Of the newest, up to a constant where there are no others; shape (j, j)."""
    older: Floats = field(default_factory=lambda: np.empty(0))
    """The variances of the others; shape (n - j,)."""

    @property
    def diagonal(self) -> Floats:
        """Everyone's own variance; shape (n,)."""
        return np.concatenate((self.older, np.diagonal(self.matrix)))

    def of_differences(self, one: Integers, other: Integers) -> Floats:
        """The variances of differences within pairs, given by places in the fit; shape (k,)."""
        start, diagonal = len(self.older), self.diagonal
        row, column = np.maximum(one - start, 0), np.maximum(other - start, 0)
        shared = np.where(np.minimum(one, other) < start, 0.0, self.matrix[row, column])
        variances = diagonal[one] + diagonal[other] - 2 * shared
        return np.where(one == other, 0.0, np.maximum(variances, 0.0))

    def from_mean(self, weights: Floats) -> Floats:
        """The variance of everyone's difference from a weighted mean; shape (n,).

        Args:
            weights: Shape (n,), with the sum 1.
        """
        start = len(self.older)
        common = np.concatenate((self.older * weights[:start], self.matrix @ weights[start:]))
        variances: Floats = self.diagonal - 2 * common + weights @ common
        return np.maximum(variances, 0.0)

    def __add__(self, other: "Covariance") -> "Covariance":
        """That of the sums of independent errors."""
        return Covariance(self.matrix + other.matrix, self.older + other.older)


def covariance(fit: Fit, joint: int = JOINT) -> Covariance:
    """The covariance of a fit's strengths: the inverse of its information.

    In a large pool the newest have that of their joint information, with all older ones taken as
    known, and each older one that of its own information with all others known. Simulated, the
    deviations of differences are 1 to 1.5 % too small where everyone has met 40, 3 to 6 % where ten;
    of older ones 4 % where they met those of their time alone, and 27 % in a chain.
    """
    information = fit.information
    older = max(information.size - joint, 0)
    matrix = np.linalg.inv(information.dense(older) if older else information.held())
    return Covariance(
        ELO_PER_NAT**2 * (matrix + matrix.T) / 2, ELO_PER_NAT**2 / information.diagonal[:older]
    )


def normal_cdf(deviations: Floats) -> Floats:
    """The cumulative distribution function of the standard normal distribution."""
    chance: Floats = np.vectorize(math.erfc, otypes=[float])(-np.asarray(deviations) / math.sqrt(2))
    return chance / 2


def superiority(difference: Floats, variance: Floats) -> Floats:
    """The likelihood of superiority (LOS): the chance that a difference is above 0.

    A player is superior to itself with 1/2.
    """
    return normal_cdf(difference / np.sqrt(np.maximum(variance, NO_VARIANCE)))


def superiority_to_next(elo: Floats, order: Integers, covariance: Covariance) -> Floats:
    """Everyone's LOS over the next, but for the last's; shape (n - 1,).

    Args:
        elo: Shape (n,).
        order: The players' places, best first; shape (n,).
        covariance: Of `elo`.
    """
    ahead, behind = order[:-1], order[1:]
    return superiority(elo[ahead] - elo[behind], covariance.of_differences(ahead, behind))

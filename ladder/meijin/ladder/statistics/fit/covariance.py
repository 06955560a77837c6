"""Covariance of a fit: variances of differences, and the likelihood of superiority (LOS)."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from meijin.ladder.statistics.fit.bradley_terry import ELO_PER_NAT, Fit
from meijin.ladder.statistics.fit.laplacian import Laplacian, large_eigenpairs, solve_bordered
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, sums

Z_95 = 1.959963984540054
"""Deviations to either side that 95 % of a normal distribution lies within."""
NO_VARIANCE = 1e-200
"""Stands for 0 in a denominator."""


class Covariance(Protocol):
    """The covariance of the errors of a fit's strengths, in Elo squared.

    Strengths are known up to a common shift, so that only differences have a variance.
    """

    def of_differences(self, one: Integers, other: Integers) -> Floats:
        """The variances of differences within pairs, given by places in the fit; shape (k,)."""
        ...

    def from_mean(self, weights: Floats) -> Floats:
        """The variance of everyone's difference from a weighted mean; shape (n,).

        Args:
            weights: Shape (n,), with the sum 1.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class DenseCovariance:
    """The covariance matrix as a whole."""

    matrix: Floats
    """Up to a constant; shape (n, n)."""

    def of_differences(self, one: Integers, other: Integers) -> Floats:
        diagonal = np.diagonal(self.matrix)
        variances: Floats = diagonal[one] + diagonal[other] - 2 * self.matrix[one, other]
        return np.maximum(variances, 0.0)

    def from_mean(self, weights: Floats) -> Floats:
        common = self.matrix @ weights
        variances: Floats = np.diagonal(self.matrix) - 2 * common + weights @ common
        return np.maximum(variances, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class SparseCovariance:
    """The covariance matrix of a large pool, by a series.

    With d the information's diagonal and N its normalised weights of who met whom, the matrix
    is d^-1/2 (1 + N + N^2 + N^3 (1 - N)^-1) d^-1/2. The last term is taken in the space that
    Lanczos's method has seen, which holds the large eigenvalues: those of groups with few
    games between them, whose distance is unsure. Of the terms before it, the diagonal is exact,
    and so is what two players share by games of their own. What they share by games with the
    same opponents is left out, so a difference may come out too unsure: by about one part in
    as many as they have met.
    """

    own: Floats
    """The diagonal of d^-1/2 (1 + N^2) d^-1/2; shape (n,)."""
    weights: Laplacian
    """Merged."""
    vectors: Floats
    """Eigenvectors of N, scaled by d^-1/2, and columns of what the border adds; shape (n, k)."""
    rest: Floats
    """l^3 / (1 - l) of their eigenvalues l, and 1 for each column; shape (k,)."""

    def of_differences(self, one: Integers, other: Integers) -> Floats:
        far = ((self.vectors[one] - self.vectors[other]) ** 2) @ self.rest
        per_weight = 1 / self.weights.diagonal
        shared = self.weights.weights_between(one, other) * per_weight[one] * per_weight[other]
        variances = self.own[one] + self.own[other] - 2 * shared + far
        return ELO_PER_NAT**2 * np.where(one == other, 0.0, np.maximum(variances, 0.0))

    def from_mean(self, weights: Floats) -> Floats:
        scale = self.weights.diagonal**-0.5
        start = scale * weights
        once = _normalised(self.weights, scale, start)
        common = scale * (start + once + _normalised(self.weights, scale, once))
        far = ((self.vectors - weights @ self.vectors) ** 2) @ self.rest
        variances = self.own - 2 * common + weights @ common + far
        return ELO_PER_NAT**2 * np.maximum(variances, 0.0)


def covariance(fit: Fit) -> Covariance:
    """The covariance of a fit's strengths: the inverse of its information."""
    information = fit.information
    if information.is_large:
        return _sparse_covariance(information)
    matrix = np.linalg.inv(information.held())
    return DenseCovariance(ELO_PER_NAT**2 * (matrix + matrix.T) / 2)


def _sparse_covariance(information: Laplacian) -> SparseCovariance:
    """By Lanczos's method, and exactly what is unsure since the advantage and draws are."""
    weights = information.merged()
    scale = weights.diagonal**-0.5
    squares = (weights.weight * scale[weights.first] * scale[weights.second]) ** 2
    met = sums(weights.first, squares, weights.size)
    met += sums(weights.second, squares, weights.size)
    times = partial(_normalised, weights, scale)
    # The shift of all strengths alike: without a ridge it has the eigenvalue 1, and no say in
    # differences.
    values, vectors = large_eigenpairs(times, 1 / scale)
    unknown = _of_unknown(information, weights)
    return SparseCovariance(
        own=scale**2 * (1 + met),
        weights=weights,
        vectors=np.column_stack((scale[:, None] * vectors, unknown)),
        rest=np.append(values**3 / (1 - values), np.ones(unknown.shape[1])),
    )


def _of_unknown(information: Laplacian, weights: Laplacian) -> Floats:
    """The columns whose outer products the border adds to the covariance (Woodbury 1950)."""
    nothing = np.empty((weights.size, 0)), np.empty((0, 0))
    solved = np.empty_like(information.border)
    for place, column in enumerate(information.border.T):
        solved[:, place], _ = solve_bordered(weights, *nothing, column, np.empty(0))
    rest = information.corner - information.border.T @ solved
    return solved @ np.linalg.cholesky(np.linalg.inv(rest))


def _normalised(weights: Laplacian, scale: Floats, vector: Floats) -> Floats:
    """N times a vector."""
    return scale * weights.weights_times(scale * vector)


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

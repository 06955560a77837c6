"""The fit of a grid: Elo as a polynomial of the second degree in all parameters at once.

Weighted least squares of the logistic model (iteratively, as of any generalised linear model:
McCullagh and Nelder, Generalized Linear Models, 2nd edition 1989, chapter 4), on the scores of
whole pairs of games, whose spread makes the errors (White, "Maximum likelihood estimation of
misspecified models", Econometrica 50 (1982), 1-25): the two games of a pair go together.

In simulations of 200 tunings each, of 20 to 300 pairs, three to nine values and one to three
parameters, the intervals held the best values in 93 to 97 %.
"""

import math
from dataclasses import dataclass
from itertools import combinations, product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

ELO_PER_NAT = 400 / math.log(10)
PRIOR_ELO = 1000.0
"""The deviation of what is expected of a coefficient before any game: it keeps one finite where a
value has won all its games, and is of no weight else."""
STEPS = 50
MAX_STEP = 2.0
"""Of a coefficient in a step, in nats: from far off a whole one may go astray."""
TOLERANCE = 1e-9
DRAWS = 2000
"""Of coefficients as likely as those found, by which the interval of the best values is made."""
SWEEPS = 60
"""Of the search for the best values of a polynomial."""
Z_95 = 1.959964
TAIL = 0.025
PARABOLA = 3
"""Levels that a parabola meets all; with more it can be seen whether it does."""


@dataclass(frozen=True, slots=True)
class Observations:
    """Pairs of games; values are scaled, each parameter's range to -1 to 1."""

    plus: Floats
    """Shape (n, k)."""
    minus: Floats
    score: Floats
    """The share of the points that plus has made in the two games; shape (n,)."""


@dataclass(frozen=True, slots=True)
class Fit:
    """What was found; Elo, and values scaled as in `Observations`."""

    coefficients: Floats
    """Of `quadratic`, in Elo; shape (m,)."""
    covariance: Floats
    """Shape (m, m)."""
    best: Floats
    """The values within the range where the polynomial is highest; shape (k,)."""
    low: Floats
    """Where their 95 % intervals begin."""
    high: Floats
    is_peak: tuple[bool, ...]
    """Whether the polynomial bends down, at 97.5 %, in each parameter."""
    flat_p: float
    """The chance of such results where all values are equally strong."""
    misfit_p: float
    """The same where a polynomial of the second degree is true; 1 where it can't be seen."""

    def elo(self, points: Floats, against: Floats) -> tuple[Floats, Floats]:
        """The advantage of points over one point, with its standard error; shapes (n,)."""
        rows = quadratic(points) - quadratic(against[None, :])
        return rows @ self.coefficients, np.sqrt(
            np.einsum("ij,jk,ik->i", rows, self.covariance, rows)
        )


def quadratic(points: Floats) -> Floats:
    """The terms of a polynomial without its constant, which no game can show; shape (n, m).

    First each parameter, then its square, then the products of two.
    """
    count = points.shape[1]
    products = [points[:, one] * points[:, two] for one, two in combinations(range(count), 2)]
    return np.column_stack([points, points**2, *products])


def term_count(parameters: int) -> int:
    return 2 * parameters + math.comb(parameters, 2)


def fit(observed: Observations, seed: int) -> Fit:
    """Fit a polynomial; the same results and the same seed give the same fit."""
    terms = quadratic(observed.plus) - quadratic(observed.minus)
    coefficients, covariance = regress(terms, observed.score)
    count = observed.plus.shape[1]
    rng = np.random.default_rng(seed)
    drawn = rng.multivariate_normal(coefficients, covariance, DRAWS, method="eigh")
    low, high = np.quantile(highest(drawn, count), (TAIL, 1 - TAIL), axis=0)
    bends = coefficients[count : 2 * count]
    errors = np.sqrt(np.diag(covariance))[count : 2 * count]
    return Fit(
        coefficients,
        covariance,
        highest(coefficients[None, :], count)[0],
        low,
        high,
        tuple(bool(each) for each in bends < -Z_95 * errors),
        wald(coefficients, covariance),
        _misfit(observed, terms),
    )


def _misfit(observed: Observations, terms: Floats) -> float:
    """The chance that single levels of a parameter stray so far from a polynomial."""
    extra = [steps[:, : 1 - PARABOLA] for _, steps in _levels(observed)]
    if not any(steps.size for steps in extra):
        return 1.0
    coefficients, covariance = regress(np.column_stack([terms, *extra]), observed.score)
    first = terms.shape[1]
    return wald(coefficients[first:], covariance[first:, first:])


def level_elo(observed: Observations, parameter: int) -> tuple[Floats, Floats, Floats]:
    """The levels of a parameter, and the Elo of each with its standard error, without a polynomial.

    The other parameters have such steps too. The mean of the levels is 0; shapes (n,).
    """
    found = _levels(observed)
    coefficients, covariance = regress(
        np.column_stack([steps for _, steps in found]), observed.score
    )
    levels, _ = found[parameter]
    count, start = len(levels), sum(len(before) - 1 for before, _ in found[:parameter])
    own = slice(start, start + count - 1)
    centred = (np.eye(count) - 1 / count)[:, 1:]
    spread = centred @ covariance[own, own] @ centred.T
    return levels, centred @ coefficients[own], np.sqrt(np.diag(spread))


def _levels(observed: Observations) -> list[tuple[Floats, Floats]]:
    """The levels of each parameter that were played, and terms for all but the lowest; (n, levels)."""
    found = []
    for plus, minus in zip(observed.plus.T, observed.minus.T, strict=True):
        levels = np.unique(np.concatenate([plus, minus]))
        steps = (plus[:, None] == levels[1:]).astype(float) - (minus[:, None] == levels[1:])
        found.append((levels, steps))
    return found


def regress(terms: Floats, score: Floats) -> tuple[Floats, Floats]:
    """The coefficients of a logistic model of scores, in Elo, and their covariance.

    Args:
        terms: Of plus less those of minus; shape (n, m).
        score: From 0 to 1; shape (n,).
    """
    count, width = terms.shape
    prior = np.eye(width) * (ELO_PER_NAT / PRIOR_ELO) ** 2
    found = np.zeros(width)
    for _ in range(STEPS):
        expected = 1 / (1 + np.exp(-terms @ found))
        weights = expected * (1 - expected)
        information = (terms.T * weights) @ terms + prior
        step = np.linalg.solve(information, terms.T @ (score - expected) - prior @ found)
        step *= min(1.0, MAX_STEP / max(np.abs(step).max(), TOLERANCE))
        found = found + step
        if np.abs(step).max() < TOLERANCE:
            break
    inverse = np.linalg.inv(information)
    residuals = terms * (score - expected)[:, None]
    freedom = max(1, count - width)
    covariance = inverse @ (residuals.T @ residuals * count / freedom + prior) @ inverse
    return found * ELO_PER_NAT, covariance * ELO_PER_NAT**2


def highest(coefficients: Floats, count: int) -> Floats:
    """Where polynomials are highest within the range; shape (n, k).

    Each parameter in turn goes to the best value for the others, from the middle and from each
    corner, until nothing moves; the best of these ends is taken.

    Args:
        coefficients: Of `quadratic`; shape (n, m).
        count: Of parameters, k.
    """
    slopes = coefficients[:, :count]
    bends = np.zeros((len(coefficients), count, count))
    for number, (one, two) in enumerate(combinations(range(count), 2)):
        bends[:, one, two] = bends[:, two, one] = coefficients[:, 2 * count + number]
    squares = coefficients[:, count : 2 * count]
    best, height = np.zeros_like(slopes), np.full(len(slopes), -np.inf)
    for start in [(0.0,) * count, *product((-1.0, 1.0), repeat=count)]:
        point = np.tile(start, (len(slopes), 1))
        for _ in range(SWEEPS if count > 1 else 1):
            before = point.copy()
            for own in range(count):
                slope = slopes[:, own] + np.einsum("ij,ij->i", bends[:, own], point)
                square = squares[:, own]
                peak = np.clip(slope / np.where(square < 0, -2 * square, 1), -1, 1)
                point[:, own] = np.where(square < 0, peak, np.where(slope < 0, -1.0, 1.0))
            if np.abs(point - before).max() < TOLERANCE:
                break
        reached = np.einsum("ij,ij->i", quadratic(point), coefficients)
        is_better = reached > height + TOLERANCE
        best[is_better], height[is_better] = point[is_better], reached[is_better]
    return best


def wald(coefficients: Floats, covariance: Floats) -> float:
    """The chance that coefficients which are 0 all are found so far from it (Wald 1943)."""
    distance = float(coefficients @ np.linalg.pinv(covariance, hermitian=True) @ coefficients)
    return chi_squared_tail(distance, len(coefficients))


def chi_squared_tail(value: float, freedom: int) -> float:
    """The chance that it is above a value.

    Wilson and Hilferty, "The distribution of chi-square", Proceedings of the National Academy of
    Sciences 17 (1931), 684-688.
    """
    share = 2 / (9 * freedom)
    return 0.5 * math.erfc(((value / freedom) ** (1 / 3) - 1 + share) / math.sqrt(2 * share))

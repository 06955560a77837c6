"""Significance: tails of the chi-square distribution, and p-values of many tests at once."""

import numpy as np

from meijin.ladder.statistics.covariance import normal_cdf
from meijin.ladder.statistics.pair_counts import Floats


def chi_square_tail(values: Floats, freedom: Floats) -> Floats:
    """The chance that a chi-square variable exceeds each of `values`.

    By the cube root, which is nearly normal (Wilson & Hilferty, The distribution of chi-square,
    1931): from 3 degrees of freedom on it is right to 0.001, and to a tenth of itself down to
    chances of 0.001. Without any freedom nothing is sure, and the chance is 1.
    """
    freedom = np.asarray(freedom, dtype=np.float64)
    spread = 2 / (9 * np.maximum(freedom, 1e-9))
    root = np.cbrt(np.asarray(values) / np.maximum(freedom, 1e-9))
    return np.where(freedom > 0, normal_cdf((1 - spread - root) / np.sqrt(spread)), 1.0)


def two_sided(deviations: Floats) -> Floats:
    """The chance that a standard normal variable lies further from 0 than each of `deviations`."""
    return 2 * normal_cdf(-np.abs(deviations))


def holm(p_values: Floats, tests: int) -> Floats:
    """P-values for all tests together: the chance that even one is so small by chance.

    Holm's step-down method (A simple sequentially rejective multiple test procedure, 1979),
    which needs no independence.

    Args:
        p_values: The least ones, ascending.
        tests: How many tests there are in all.
    """
    left = tests - np.arange(len(p_values))
    adjusted: Floats = np.minimum(np.maximum.accumulate(left * p_values), 1.0)
    return adjusted


def benjamini_hochberg(p_values: Floats) -> Floats:
    """False discovery rates: of all that are at most so large, the share that chance explains.

    Benjamini and Hochberg's step-up method (Controlling the false discovery rate, 1995).
    """
    order = np.argsort(p_values, kind="stable")[::-1]
    ranks = np.arange(len(order), 0, -1)
    adjusted = np.empty(len(order))
    shares = len(order) / ranks * p_values[order]
    adjusted[order] = np.minimum(np.minimum.accumulate(shares), 1.0)
    return adjusted

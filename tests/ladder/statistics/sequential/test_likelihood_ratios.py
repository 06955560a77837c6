"""The ratios of many counts against those of each.

First passage against closed forms, and against a walk of small steps.
"""

import math

import numpy as np
import pytest

from meijin.ladder.statistics.sequential.likelihood_ratios import chance_above, likelihood_ratios
from meijin.ladder.statistics.sequential.sprt import Scale, Sprt

TESTS = [
    Sprt(0, 5),
    Sprt(-20, 200),
    Sprt(-200, -100),
    Sprt(0, 20, scale=Scale.LOGISTIC),
    Sprt(-600, 500, scale=Scale.LOGISTIC),
]


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("kinds", [3, 5])
@pytest.mark.parametrize("most", [2, 9, 400])
def test_each_row_has_its_own_ratio(test: Sprt, kinds: int, most: int) -> None:
    """Also where results are all on one side, or all the same."""
    counts = np.random.default_rng(kinds).integers(0, most, (40, kinds))
    counts = np.concatenate((counts, np.diag([most] * kinds)))
    counts = counts[counts.any(axis=1)]
    alone = [test.llr(row) for row in counts.tolist()]
    assert likelihood_ratios(test, counts) == pytest.approx(alone, rel=1e-4, abs=1e-4)


FOREVER = 1e5


@pytest.mark.parametrize("drift", [-0.4, -0.01, 0.01, 0.3, 2.0])
def test_in_the_end_the_chance_is_that_of_wald(drift: float) -> None:
    """(1 - e^(-2 m a)) / (1 - e^(-2 m (a + b))), with the variance 1."""
    chance = chance_above(drift=drift, deviation=1, lower=-3, upper=2, time=FOREVER)
    expected = math.expm1(-2 * drift * 3) / math.expm1(-2 * drift * 5)
    assert chance == pytest.approx(expected, rel=1e-9)


def test_with_the_other_bound_far_away_time_is_inverse_gaussian() -> None:
    """Without it the first passage has the distribution of Schroedinger (1915)."""
    chance = chance_above(drift=0.5, deviation=2, lower=-1e3, upper=4, time=9)

    def normal(value: float) -> float:
        return math.erfc(-value / math.sqrt(2)) / 2

    expected = normal((0.5 * 9 - 4) / 6) + math.exp(2 * 0.5 * 4 / 4) * normal((-0.5 * 9 - 4) / 6)
    assert chance == pytest.approx(expected, rel=1e-12)


def test_both_bounds_and_those_between_are_everything() -> None:
    """Who is between two bounds by a time has the chance of the sine series (Darling, Siegert)."""
    drift, lower, upper, time = 0.3, -2.0, 3.0, 4.0
    above = chance_above(drift=drift, deviation=1, lower=lower, upper=upper, time=time)
    below = chance_above(drift=-drift, deviation=1, lower=-upper, upper=-lower, time=time)
    width, place = upper - lower, np.linspace(0, upper - lower, 20_001)
    modes = np.arange(1, 60)[:, None] * math.pi / width
    decay = np.exp(-(modes**2) * time / 2) * np.sin(modes * -lower)
    density = 2 / width * (decay * np.sin(modes * place)).sum(axis=0)
    density *= np.exp(drift * (place + lower) - drift**2 * time / 2)
    between = float(np.trapezoid(density, place))
    assert above + below + between == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(("drift", "expected"), [(200.0, 1.0), (-200.0, 0.0)])
def test_an_extreme_drift_has_a_chance_too(drift: float, expected: float) -> None:
    """Without overflow."""
    chance = chance_above(drift=drift, deviation=0.5, lower=-3, upper=3, time=50)
    assert chance == pytest.approx(expected, abs=1e-12)

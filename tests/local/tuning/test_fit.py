"""The curve through a grid, on games of a player whose strength is known."""

from collections.abc import Callable

import numpy as np
import pytest

from meijin.local.tuning.fit import (
    Floats,
    Observations,
    chi_squared_tail,
    fit,
    highest,
    level_elo,
)

Curve = Callable[[Floats], Floats]
OPENING_ELO = 60.0
"""The deviation of the advantage that an opening gives one colour."""


def peak(at: float, depth: float = 100) -> Curve:
    """Elo that falls by `depth` for each half of a range away from the best values."""
    return lambda points: -depth * ((points - at) ** 2).sum(axis=1)


def played(
    curve: Curve, pairs: int, rng: np.random.Generator, *, count: int = 1, levels: int = 5
) -> Observations:
    """Pairs of games between points by lot, each on one opening with both colours."""
    values = np.linspace(-1, 1, levels)
    plus, minus = rng.choice(values, (pairs, count)), rng.choice(values, (pairs, count))
    differ = (plus != minus).any(axis=1)
    plus, minus = plus[differ], minus[differ]
    ahead, opening = curve(plus) - curve(minus), rng.normal(0, OPENING_ELO, len(plus))
    chances = [1 / (1 + 10 ** (-(ahead + side * opening) / 400)) for side in (1, -1)]
    score = sum((rng.random(len(plus)) < chance) / 2 for chance in chances)
    return Observations(plus, minus, np.asarray(score))


@pytest.mark.parametrize(("count", "depth"), [(1, 100), (1, 400), (2, 100)])
def test_intervals_hold_the_best_value_in_nineteen_of_twenty(count: int, depth: float) -> None:
    """Of 200 tunings; by chance 95 % would be within 90 and 99 %."""
    rng = np.random.default_rng(1)
    held = []
    for seed in range(200):
        found = fit(played(peak(0.2, depth), 400, rng, count=count), seed)
        held.append((found.low <= 0.2) & (found.high >= 0.2))
        assert np.all(found.low < found.best)
        assert np.all(found.best < found.high)
    assert 0.90 < np.mean(held) < 0.99


def test_more_games_tell_more() -> None:
    """Four times as many halve the interval, and the values are found."""
    rng = np.random.default_rng(2)
    few, many = (fit(played(peak(0.2), pairs, rng), 1) for pairs in (1000, 16_000))
    assert (many.high - many.low)[0] == pytest.approx((few.high - few.low)[0] / 4, rel=0.3)
    assert many.best[0] == pytest.approx(0.2, abs=0.05)
    assert many.is_peak == (True,)
    assert many.flat_p < 1e-6
    elo, error = many.elo(np.array([[0.2], [-1.0]]), np.array([1.0]))
    assert elo == pytest.approx([64, -80], abs=15)
    assert np.all(error < 10)


def test_interactions_are_found() -> None:
    """Along a ridge the best value of one depends on the other."""

    def ridge(points: Floats) -> Floats:
        x, y = points.T
        return np.asarray(-150 * (x - y) ** 2 - 150 * (x + y - 1) ** 2 + 100 * x * y)

    found = fit(played(ridge, 8000, np.random.default_rng(3), count=2), 1)
    assert found.best == pytest.approx([0.6, 0.6], abs=0.1)
    assert found.coefficients[-1] == pytest.approx(100, abs=40)


def test_a_maximum_at_the_end_is_there() -> None:
    found = fit(played(lambda points: 80 * points[:, 0], 1000, np.random.default_rng(4)), 1)
    assert found.best == found.high == 1


def test_a_valley_has_no_peak() -> None:
    found = fit(played(lambda points: 100 * points[:, 0] ** 2, 1000, np.random.default_rng(5)), 1)
    assert found.is_peak == (False,)
    assert abs(found.best[0]) == 1
    assert (found.low[0], found.high[0]) == (-1, 1)


def test_equal_players_show_no_difference() -> None:
    """In nineteen of twenty tunings."""
    rng = np.random.default_rng(6)
    chances = [fit(played(lambda points: 0 * points[:, 0], 200, rng), 1).flat_p for _ in range(200)]
    assert 0.9 < np.mean(np.array(chances) > 0.05) < 0.99


def test_what_is_no_parabola_is_seen() -> None:
    """And a parabola is taken for none in one tuning of a hundred; three values can't show it."""
    rng = np.random.default_rng(7)

    def bell(points: Floats) -> Floats:
        return np.asarray(300 * np.exp(-((points[:, 0] - 0.2) ** 2) / 0.2))

    assert fit(played(bell, 1000, rng), 1).misfit_p < 0.001
    chances = [fit(played(peak(0.2), 400, rng), 1).misfit_p for _ in range(200)]
    assert np.mean(np.array(chances) < 0.05) < 0.1
    assert fit(played(bell, 1000, rng, levels=3), 1).misfit_p == 1


def test_a_value_that_wins_all_stays_finite() -> None:
    plus, minus = np.full((30, 1), 1.0), np.full((30, 1), -1.0)
    found = fit(Observations(plus, minus, np.ones(30)), 1)
    assert np.all(np.isfinite(found.covariance))
    assert 300 < found.elo(plus[:1], minus[0])[0][0] < 2000


def test_levels_are_told_one_by_one() -> None:
    """About their mean, in whatever way they depend on each other."""
    observed = played(
        lambda points: 100 * np.abs(points[:, 0]), 4000, np.random.default_rng(8), count=2
    )
    levels, elo, error = level_elo(observed, 0)
    assert levels.tolist() == [-1, -0.5, 0, 0.5, 1]
    assert elo == pytest.approx([40, -10, -60, -10, 40], abs=20)
    assert np.all((error > 2) & (error < 10))
    assert level_elo(observed, 1)[1] == pytest.approx([0] * 5, abs=20)


def test_the_highest_point_is_found_in_corners_too() -> None:
    """Against a search of the whole square."""
    rng = np.random.default_rng(9)
    coefficients = rng.normal(size=(50, 5))
    axis = np.linspace(-1, 1, 201)
    x, y = (each.ravel() for each in np.meshgrid(axis, axis))
    terms = np.column_stack([x, y, x**2, y**2, x * y])
    points = highest(coefficients, 2)
    x, y = points.T
    reached = (np.column_stack([x, y, x**2, y**2, x * y]) * coefficients).sum(axis=1)
    assert np.all(reached >= (terms @ coefficients.T).max(axis=0) - 1e-9)


@pytest.mark.parametrize(
    ("value", "freedom", "chance"), [(3.841, 1, 0.05), (5.991, 2, 0.05), (13.28, 4, 0.01)]
)
def test_chi_squared(value: float, freedom: int, chance: float) -> None:
    """As in the tables."""
    assert chi_squared_tail(value, freedom) == pytest.approx(chance, rel=0.1)

"""Prior sensitivity against fits from scratch and BayesElo's prior as the golden tests write it."""

import numpy as np
import pytest
from tests.ladder.statistics.golden import Pool, with_bayes_elo_prior

from meijin.ladder.statistics.bradley_terry import Prior, fit
from meijin.ladder.statistics.pair_counts import Floats, PairCounts
from meijin.ladder.statistics.prior_sensitivity import PriorSensitivity, with_virtual_draws


def test_the_virtual_draws_are_those_of_bayeselo() -> None:
    """The same games and draws of each two, whatever rows they stand in."""
    counts = Pool.read("synth_10_1000").counts.merged()
    ours, theirs = with_virtual_draws(counts, 10).merged(), with_bayes_elo_prior(counts).merged()
    assert (ours.first == theirs.first).all()
    assert ours.draws == pytest.approx(theirs.draws)
    assert ours.wins == pytest.approx(theirs.wins)


def test_it_is_the_largest_change_of_a_rating() -> None:
    """As of fits that begin at nothing, relative to the mean, of those who are told of alone."""
    counts = Pool.read("synth_10_1000").counts
    fitted, centre = fit(counts), np.full(10, 0.1)
    told = np.arange(10) > 2

    def change(elo: Floats) -> float:
        moved = np.abs((fitted.elo - fitted.elo.mean()) - (elo - elo.mean()))
        return float(moved[told].max())

    found = PriorSensitivity.of(fitted, centre, told)
    weak = Prior(strength=1e5)
    assert found.normal_400 == pytest.approx(change(fit(counts, Prior(400.0)).elo), abs=1e-4)
    drawn = fit(with_bayes_elo_prior(counts), weak)
    assert found.virtual_draws == pytest.approx(change(drawn.elo), abs=1e-4)
    assert 0 < found.normal_400 < found.virtual_draws


def test_a_pool_without_draws_has_one_too() -> None:
    """Though BayesElo's prior makes draws where none were; a perfect scorer moves most."""
    counts = PairCounts(
        np.array([0, 1, 2]), np.array([1, 2, 0]), *np.array([[5.0, 3, 0], [0, 0, 0], [0, 2, 5]])
    )
    fitted = fit(counts)
    third, everyone = np.full(3, 1 / 3), np.ones(3, dtype=bool)
    found = PriorSensitivity.of(fitted, third, everyone)
    assert found.normal_400 > 30
    assert found.virtual_draws > 30


def test_nobody_told_of_is_no_change() -> None:
    """Such as of a ladder whose ratings are all provisional."""
    counts = Pool.read("synth_10_1000").counts
    nobody = np.zeros(10, dtype=bool)
    assert PriorSensitivity.of(fit(counts), np.full(10, 0.1), nobody) == PriorSensitivity(0, 0)

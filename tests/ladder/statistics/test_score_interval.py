"""The interval of a score."""

import numpy as np
import pytest

from meijin.ladder.statistics.score_interval import wilson_interval


def test_a_known_interval() -> None:
    """Of 8 points in 10 games, as R's `prop.test` has it without its correction."""
    assert wilson_interval(8, 10) == pytest.approx((0.49016247, 0.94331785), abs=1e-7)


@pytest.mark.parametrize("games", [1, 3, 1000, 10**9])
def test_the_score_is_inside(games: int) -> None:
    """At either end too, and nothing is impossible."""
    for points in (0, 0.5, games / 2, games):
        low, high = wilson_interval(points, games)
        assert 0 <= low <= points / games <= high <= 1


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_it_holds_what_it_says(share: float) -> None:
    """19 times in 20, of 400 games without draws."""
    wins = np.random.default_rng(1).binomial(400, share, 4000)
    held = [low <= share <= high for low, high in (wilson_interval(each, 400) for each in wins)]
    assert 0.93 <= np.mean(held) <= 0.97


def test_draws_make_it_no_narrower_than_it_has_to_be() -> None:
    """Half points vary less than whole ones, so it holds them more often than it says."""
    points = np.random.default_rng(1).choice([0, 0.5, 1], (4000, 40)).sum(axis=1)
    held = [low <= 0.5 <= high for low, high in (wilson_interval(each, 40) for each in points)]
    assert np.mean(held) > 0.97

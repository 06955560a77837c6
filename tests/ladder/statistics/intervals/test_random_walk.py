"""A walk of all strengths: estimated from games whose makers walk, or stay."""

import numpy as np
import pytest

from meijin.ladder.statistics.diagnosis.drift import ResidualsOverTime, in_blocks
from meijin.ladder.statistics.fit.bradley_terry import Fit, Outcomes, fit
from meijin.ladder.statistics.fit.covariance import DenseCovariance
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, PairCounts
from meijin.ladder.statistics.intervals.random_walk import STILL, RandomWalk, _nyblom
from meijin.ladder.statistics.intervals.robust import WanderingCovariance, robust_covariance

OUTCOMES = Outcomes(advantage=60.0, draws=40.0)


def played(
    games: int, *, step: float = 0.0, bots: int = 20, seed: int = 1
) -> tuple[PairCounts, Integers]:
    """So many games in order, a row each, and their blocks; each moves its two players' strengths."""
    rng = np.random.default_rng(seed)
    strengths = rng.normal(0, 150, bots)
    first = rng.integers(0, bots, games)
    second = (first + rng.integers(1, bots, games)) % bots
    results = np.zeros((3, games))
    steps, luck = rng.normal(0, step, (games, 2)), rng.random(games)
    for game in range(games):
        one, other = first[game], second[game]
        lead = strengths[one] - strengths[other]
        won, lost = luck[game] < OUTCOMES.wins(lead), luck[game] > 1 - OUTCOMES.losses(lead)
        results[0 if won else 2 if lost else 1, game] = 1
        strengths[[one, other]] += steps[game]
    return PairCounts(first, second, *results), in_blocks(games, 64)


def walk_of(counts: PairCounts, times: Integers) -> RandomWalk:
    """By the fit of all of them."""
    return RandomWalk.of(fit(counts), counts, times)


@pytest.mark.parametrize("seed", range(3))
def test_a_walk_is_found_and_measured(seed: int) -> None:
    """Steps of 4 Elo, over 800 games of each."""
    walk = walk_of(*played(8_000, step=4, seed=seed))
    assert walk.is_sure
    assert walk.step == pytest.approx(4, rel=0.35)


def test_strengths_that_stay_are_seldom_taken_for_walking() -> None:
    """The statistic is about standard normal then, though its right side is the longer one."""
    found = [walk_of(*played(600, seed=seed)).deviations for seed in range(40)]
    assert np.mean(found) == pytest.approx(0, abs=0.5)
    assert np.std(found) == pytest.approx(1, abs=0.35)
    assert sum(each > 3 for each in found) <= 1


def test_what_is_allowed_for_by_chance_is_little() -> None:
    """Where strengths stay the intervals of most pools hardly widen."""
    wider = []
    for seed in range(10):
        counts, times = played(1_500, seed=seed)
        known = fit(counts)
        wider.append(robust_covariance(known, RandomWalk.of(known, counts, times)).factor)
    assert np.median(wider) < 1.08
    assert np.mean(wider) < 1.25


def test_the_statistic_is_nybloms_written_out() -> None:
    """The mean square of the cumulated residuals less their trend, in units of their variance."""
    counts, times = played(900, step=5, bots=4)
    over = ResidualsOverTime.of(fit(counts), counts, times)
    excess, _ = _nyblom(over)
    for player in range(4):
        residuals, variances = over.residuals[player], over.variances[player]
        whole, total = variances.sum(), residuals.sum()
        square = mean = so_far = passed = 0.0
        for residual, variance in zip(residuals, variances, strict=True):
            so_far, passed = so_far + residual, passed + variance / whole
            square += variance / whole * (so_far - passed * total) ** 2 / whole
            mean += variance / whole * passed * (1 - passed)
        assert excess[player] == pytest.approx(square - mean)
        assert mean == pytest.approx(1 / 6, abs=0.01)


def test_the_end_of_a_walk_is_as_far_from_its_mean_as_is_told() -> None:
    """A third of the variance of all its steps."""
    rng = np.random.default_rng(4)
    walks = rng.normal(0, 3, (4_000, 300)).cumsum(axis=1)
    square = ((walks[:, -1] - walks.mean(axis=1)) ** 2).mean()
    assert RandomWalk(3.0, 9.0).variances(np.array([300.0])) == pytest.approx([square], rel=0.1)


def test_order_of_rows_makes_no_difference() -> None:
    """Times say when."""
    counts, times = played(700, step=3, bots=5)
    order = np.random.default_rng(1).permutation(len(times))
    shuffled = PairCounts(
        counts.first[order],
        counts.second[order],
        counts.wins[order],
        counts.draws[order],
        counts.losses[order],
    )
    known, found = fit(counts), walk_of(counts, times)
    again = RandomWalk.of(known, shuffled, 5 * times[order] - 9)
    assert again.step == pytest.approx(found.step)
    assert again.deviations == pytest.approx(found.deviations)


def test_few_games_or_one_time_say_nothing() -> None:
    """Nobody is looked at then, and nothing is divided by 0."""
    counts, times = played(30)
    assert walk_of(counts, times) == STILL
    counts, times = played(500)
    assert walk_of(counts, np.zeros_like(times)).step == 0
    nothing = PairCounts(*np.empty((5, 0), dtype=np.int64))
    assert walk_of(nothing, np.empty(0, dtype=np.int64)) == STILL


def known_walk() -> tuple[Fit, RandomWalk, Floats]:
    """A fit, a walk and what it adds to each variance."""
    known, walk = fit(played(400, bots=6)[0]), RandomWalk(2.0, 5.0)
    return known, walk, walk.variances(known.games_of_players)


def test_a_walk_widens_each_player_by_its_own_games() -> None:
    """And leaves what errors share."""
    known, walk, own = known_walk()
    still, walking = (robust_covariance(known, each) for each in (STILL, walk))
    assert isinstance(still.covariance, DenseCovariance)
    assert isinstance(walking.covariance, DenseCovariance)
    added = walking.covariance.matrix - still.covariance.matrix
    assert added == pytest.approx(np.diag(own), abs=1e-9)
    assert own == pytest.approx(4 * known.games_of_players / 3)
    assert known.games_of_players.sum() == 800
    assert walking.factor > still.factor


def test_a_large_pool_is_widened_likewise() -> None:
    """Without the matrix: each difference, and everyone's from a mean."""
    known, walk, own = known_walk()
    still = robust_covariance(known).covariance
    dense, sparse = robust_covariance(known, walk).covariance, WanderingCovariance(still, own)
    one, other = np.array([0, 3, 2]), np.array([1, 5, 2])
    assert sparse.of_differences(one, other) == pytest.approx(dense.of_differences(one, other))
    weights = np.array([0.5, 0.0, 0.25, 0.25, 0.0, 0.0])
    assert sparse.from_mean(weights) == pytest.approx(dense.from_mean(weights))

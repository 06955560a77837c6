"""Clusters of games by opening, and by pair."""

from dataclasses import replace

import numpy as np
import pytest
from tests.ladder.statistics.made_games import counts

from meijin.ladder.statistics.fit.bradley_terry import Outcomes, Prior, fit
from meijin.ladder.statistics.intervals.overdispersion import (
    NOTHING,
    clustered_pairs,
    overdispersion,
)

COUNTS = counts([(1, 2, 3, 1, 0), (2, 1, 1, 0, 2), (1, 2, 0, 2, 1)], [7, 7, 9])


def test_scores_are_derivatives_of_the_likelihood() -> None:
    """Game by game, by the difference of the pair; the squares are of single games."""
    known = fit(COUNTS)
    pairs = clustered_pairs(known)
    assert (pairs.first.tolist(), pairs.second.tolist()) == ([0], [1])
    lead = known.elo[0] - known.elo[1]
    games = [(+1, 1.0)] * 3 + [(+1, 0.5)] * 3 + [(+1, 0.0)] + [(-1, 1.0)] + [(-1, 0.0)] * 2
    scores, expected = [], []
    for side, points in games:
        gradient, _ = known.outcomes.derivatives(side * lead, points)
        scores.append(side * gradient)
        win, loss = known.outcomes.wins(side * lead), known.outcomes.losses(side * lead)
        expected.append(
            win * (1 - win) ** 2 + loss * (1 - loss) ** 2 + (1 - win - loss) * (loss - win) ** 2
        )
    assert pairs.score == pytest.approx([sum(scores)])
    assert pairs.single == pytest.approx([sum(score**2 for score in scores)])
    assert pairs.information == pytest.approx([sum(expected)])
    assert sorted(pairs.clusters.games.tolist()) == [3, 3, 4]


def test_without_openings_a_cluster_is_a_pair_and_colours() -> None:
    clusters = clustered_pairs(fit(COUNTS.pooled())).clusters
    assert clusters.games.tolist() == [7, 3]


def test_openings_that_differ_are_no_overdispersion() -> None:
    """Scores of two games with different colours on one go apart, and with the same ones together."""
    apart = counts([(1, 2, 1, 0, 0), (2, 1, 1, 0, 0), (1, 2, 0, 0, 1)], [7, 7, 8])
    pairs = clustered_pairs(fit(apart, Prior(opening=250.0)))
    assert pairs.clusters.by_opening.tolist() == [0, 0, 0]
    assert pairs.by_opening[0] < 0
    together = counts([(1, 2, 2, 0, 0), (1, 2, 0, 0, 1)], [7, 8])
    assert clustered_pairs(fit(together, Prior(opening=250.0))).by_opening[0] > 0
    assert clustered_pairs(fit(apart)).by_opening.tolist() == [0]


def test_an_only_game_shares_nothing() -> None:
    """Neither opening nor opponent can make its result scatter more."""
    known = replace(fit(counts([(1, 2, 1, 0, 0)])), elo=np.zeros(2), outcomes=Outcomes(0.0, 0.0))
    pairs = clustered_pairs(known)
    assert pairs.information == pytest.approx([0.25])
    assert pairs.most_alike == pytest.approx([0.0])
    assert pairs.shared == pytest.approx([0.0])
    assert pairs.score == pytest.approx([0.5])


@pytest.mark.parametrize("seed", range(4))
def test_what_rounding_leaves_of_a_score_tells_nothing(seed: int) -> None:
    """A fit follows one bot's games against all others whatever they are, but for its last digits."""
    star = counts((0, other, 5 * other, 0, 50 - 5 * other) for other in range(1, 10))
    pairs = clustered_pairs(fit(star))
    rounding = np.random.default_rng(seed).normal(0, 1e-10, len(pairs.first))
    assert overdispersion(pairs, (1 + rounding) / pairs.information) == NOTHING

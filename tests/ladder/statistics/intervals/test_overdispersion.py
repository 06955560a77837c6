"""Clusters of games by opening, and by pair."""

from dataclasses import replace

import numpy as np
import pytest
from tests.ladder.statistics.made_games import counts, rows_at

from meijin.ladder.statistics.fit.bradley_terry import Outcomes, fit
from meijin.ladder.statistics.intervals.overdispersion import clustered_pairs

COUNTS = counts([(1, 2, 3, 1, 0), (2, 1, 1, 0, 2), (1, 2, 0, 2, 1), (1, 3, 0, 0, 0)], [7, 7, 9, 7])


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
    assert pairs.clusters.games.tolist() == [4, 3, 3]


def test_games_that_nobody_played_are_no_cluster() -> None:
    """Rows of nothing keep players in a fit, and no more."""
    pairs = clustered_pairs(fit(rows_at(COUNTS, slice(3, 4))))
    assert len(pairs.first) == len(pairs.clusters.games) == 0


def test_without_openings_a_cluster_is_a_pair_and_colours() -> None:
    clusters = clustered_pairs(fit(COUNTS.pooled())).clusters
    assert clusters.games.tolist() == [7, 3]


def test_an_only_game_shares_nothing() -> None:
    """Neither opening nor opponent can make its result scatter more."""
    known = replace(fit(counts([(1, 2, 1, 0, 0)])), elo=np.zeros(2), outcomes=Outcomes(0.0, 0.0))
    pairs = clustered_pairs(known)
    assert pairs.information == pytest.approx([0.25])
    assert pairs.most_alike == pytest.approx([0.0])
    assert pairs.shared == pytest.approx([0.0])
    assert pairs.score == pytest.approx([0.5])

"""Which openings have an effect of their own."""

from dataclasses import replace

import numpy as np
import pytest

from meijin.ladder.statistics.fit import opening_effects
from meijin.ladder.statistics.fit.opening_effects import (
    LEAST_GAMES,
    by_effect,
    effect_of_rows,
    reused_openings,
)
from meijin.ladder.statistics.fit.pair_counts import PairCounts


def counts(games: dict[int, int]) -> PairCounts:
    """So many wins of 1 over 2 with each opening."""
    openings, wins = np.array(list(games.items()), dtype=np.int64).reshape(-1, 2).T
    nothing = np.zeros(len(wins))
    players = np.ones(len(wins), dtype=np.int64)
    return PairCounts(players, 2 * players, wins.astype(float), nothing, nothing, openings)


def test_rows_have_their_openings_effects() -> None:
    """Those without one have none, and so have all where nobody tells of openings."""
    games = counts({9: 1, 2: 1, 5: 1, 7: 1})
    found = effect_of_rows(games, np.array([2, 9]), np.array([20.0, 90.0]))
    assert found.tolist() == [90, 20, 0, 0]
    untold = effect_of_rows(replace(games, openings=None), np.array([2]), np.ones(1))
    assert untold.tolist() == [0, 0, 0, 0]


def test_openings_with_enough_games_have_effects() -> None:
    """Over all rows together; ascending."""
    few = LEAST_GAMES - 1
    assert reused_openings(counts({9: LEAST_GAMES, 4: few, -3: 99})).tolist() == [-3, 9]
    twice = counts({4: few, 5: 1}).joined(counts({4: 1}))
    assert reused_openings(twice).tolist() == [4]


def test_only_the_most_played_have_effects(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two with as many games the lower number, so that the rows' order has no say."""
    monkeypatch.setattr(opening_effects, "MOST", 2)
    for order in ((7, 5, 6), (6, 7, 5), (5, 6, 7)):
        games = {7: 50, 5: 40, 6: 40}
        assert reused_openings(counts({each: games[each] for each in order})).tolist() == [5, 7]


def test_unknown_openings_have_none() -> None:
    """As where nobody tells them."""
    untold = counts({1: 100}).pooled()
    assert reused_openings(untold).size == 0
    assert by_effect(untold, np.empty(0, dtype=np.int64)).openings is None


def test_all_others_are_one() -> None:
    """The place after the last; games of one pair are merged there."""
    found = by_effect(counts({2: 5, 3: 7, 8: 30, 11: 1, 12: 1}), np.array([3, 8]))
    assert found.openings is not None
    assert found.openings.tolist() == [0, 1, 2]
    assert found.wins.tolist() == [7, 30, 7]

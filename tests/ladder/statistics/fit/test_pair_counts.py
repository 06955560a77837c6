"""Counts of games by pairs."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ladder.statistics.made_games import Row, counts

from meijin.ladder.statistics.fit import pair_counts
from meijin.ladder.statistics.fit.pair_counts import (
    LEAST_GAMES,
    GroupedCounts,
    PairCounts,
    connected_components,
    distinct,
    effect_of_rows,
)

COUNT = st.integers(0, 9)
ROWS = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3), COUNT, COUNT, COUNT))


def rows(games: PairCounts) -> list[tuple[float, ...]]:
    """Columns as rows, with the opening at the end where it is told."""
    columns = [games.first, games.second, games.wins, games.draws, games.losses]
    if games.openings is not None:
        columns.append(games.openings)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_games_are_merged_by_pair() -> None:
    """Rows of the same two with the same colours become one, in order; sorted or not before."""
    games: list[Row] = [(7, 3, 1, 2, 3), (3, 7, 1, 0, 0), (7, 3, 10, 20, 30), (-1, 3, 0, 0, 1)]
    merged: list[Row] = [(-1, 3, 0, 0, 1), (3, 7, 1, 0, 0), (7, 3, 11, 22, 33)]
    assert counts(games).games == 68
    assert counts(games).players.tolist() == [-1, 3, 7]
    assert rows(counts(games).merged()) == merged
    for some in (games, merged, [*merged[1:], merged[0]]):
        players, indexed = counts(some).indexed()
        assert players.tolist() == [-1, 3, 7]
        assert rows(indexed) == [(0, 1, 0, 0, 1), (1, 2, 1, 0, 0), (2, 1, 11, 22, 33)]


def test_openings_have_rows_of_their_own() -> None:
    """The same two with the same colours on one opening are one row, and pooled one in all."""
    games: list[Row] = [(7, 3, 1, 2, 3), (3, 7, 1, 0, 0), (7, 3, 10, 20, 30), (7, 3, 0, 0, 5)]
    with_openings = counts(games, [9, 9, 4, 9])
    merged = with_openings.merged()
    assert rows(merged) == [(3, 7, 1, 0, 0, 9), (7, 3, 10, 20, 30, 4), (7, 3, 1, 2, 8, 9)]
    assert rows(with_openings.pooled()) == rows(counts(games).merged())
    assert [row[-1] for row in rows(merged.joined(merged).merged())] == [9, 4, 9]
    assert merged.joined(counts(games)).openings is None


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 5)))
def test_distinct_numbers_are_found(numbers: list[int]) -> None:
    """Small ones and hashes of 64 bits, once each and in order."""
    assert distinct(np.array(numbers, dtype=np.int64)).tolist() == sorted(set(numbers))


@given(ROWS, ROWS, st.randoms(use_true_random=False))
def test_merging_forgets_the_order(some: list[Row], more: list[Row], rng: random.Random) -> None:
    """Doing it twice does nothing; joined games are those of both."""
    order = some + more
    rng.shuffle(order)
    merged = counts(some).joined(counts(more)).merged()
    assert rows(counts(order).merged()) == rows(merged.merged()) == rows(merged)
    assert merged.games == counts(order).games


@pytest.mark.parametrize(
    ("edges", "labels"),
    [
        ([], [0, 1, 2, 3, 4]),
        ([(3, 1), (2, 4)], [0, 1, 2, 1, 2]),
        ([(4, 3), (3, 2), (2, 1), (1, 0)], [0, 0, 0, 0, 0]),
        ([(0, 4), (0, 3), (1, 2)], [0, 1, 1, 0, 0]),
    ],
)
def test_components_have_the_smallest_label(
    edges: list[tuple[int, int]], labels: list[int]
) -> None:
    """Colours make no difference."""
    first, second = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    assert connected_components(first, second, 5).tolist() == labels
    assert connected_components(second, first, 5).tolist() == labels


def test_a_long_chain_is_one_component() -> None:
    """However far around the link goes, and in whatever order the edges stand."""
    places = np.random.default_rng(1).permutation(5000)
    assert not connected_components(places[:-1], places[1:], 5000).any()
    labels = connected_components(np.delete(places[:-1], 2500), np.delete(places[1:], 2500), 5000)
    assert np.unique(labels).size == 2


# -- effects of openings ------------------------------------------------------------


def wins_on(games: dict[int, int]) -> PairCounts:
    return counts([(1, 2, wins, 0, 0) for wins in games.values()], [*games])


def reused(games: PairCounts) -> list[int]:
    openings: list[int] = GroupedCounts.of(games).reused.tolist()
    return openings


def test_rows_have_their_openings_effects() -> None:
    """Those without one have none, and so have all where nobody tells of openings."""
    games = wins_on({9: 1, 2: 1, 5: 1, 7: 1})
    found = effect_of_rows(games, np.array([2, 9]), np.array([20.0, 90.0]))
    assert found.tolist() == [90, 20, 0, 0]
    untold = effect_of_rows(replace(games, openings=None), np.array([2]), np.ones(1))
    assert untold.tolist() == [0, 0, 0, 0]


def test_openings_with_enough_games_have_effects() -> None:
    """Over all rows together; ascending. Where nobody tells them none has."""
    few = LEAST_GAMES - 1
    assert reused(wins_on({9: LEAST_GAMES, 4: few, -3: 99})) == [-3, 9]
    assert reused(wins_on({4: few, 5: 1}).joined(wins_on({4: 1}))) == [4]
    untold = GroupedCounts.of(wins_on({1: 100}).pooled())
    assert untold.reused.size == 0
    assert untold.by_effect.openings is None


def test_only_the_most_played_have_effects(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two with as many games the lower number, so that the rows' order has no say."""
    monkeypatch.setattr(pair_counts, "MOST_OPENINGS", 2)
    games = {7: 50, 5: 40, 6: 40}
    for order in ((7, 5, 6), (6, 7, 5), (5, 6, 7)):
        assert reused(wins_on({each: games[each] for each in order})) == [5, 7]


def test_all_others_are_one() -> None:
    """The place after the last; games of one pair are merged there."""
    found = GroupedCounts.of(wins_on({2: 5, 3: 27, 8: 30, 11: 1, 12: 1})).by_effect
    assert rows(found) == [(0, 1, 27, 0, 0, 0), (0, 1, 30, 0, 0, 1), (0, 1, 7, 0, 0, 2)]

"""Counts of games by pairs."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.ladder.statistics.fit.pair_counts import PairCounts, connected_components, distinct

Row = tuple[int, int, int, int, int]
"""First, second, wins, draws, losses."""

COUNT = st.integers(0, 9)
ROWS = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3), COUNT, COUNT, COUNT))


def columns(rows: list[Row]) -> PairCounts:
    """Rows as columns."""
    table = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    return PairCounts(*table[:2], *table[2:].astype(float))


def rows(counts: PairCounts) -> list[tuple[float, ...]]:
    """Columns as rows."""
    table = (counts.first, counts.second, counts.wins, counts.draws, counts.losses)
    return list(zip(*(column.tolist() for column in table), strict=True))


def test_games_and_players() -> None:
    """All three results are games, and both colours are players."""
    counts = columns([(7, 3, 1, 2, 3), (3, 9, 4, 0, 0)])
    assert counts.games == 10
    assert counts.players.tolist() == [3, 7, 9]


def test_merging_adds_up_each_pair() -> None:
    """Rows of the same two with the same colours become one, in order."""
    counts = columns([(7, 3, 1, 2, 3), (3, 7, 1, 0, 0), (7, 3, 10, 20, 30), (-1, 3, 0, 0, 1)])
    assert rows(counts.merged()) == [(-1, 3, 0, 0, 1), (3, 7, 1, 0, 0), (7, 3, 11, 22, 33)]


def test_players_are_indexed_in_the_order_of_their_names() -> None:
    """And the games are merged, whether they were before or not."""
    games = [(-1, 3, 0, 0, 1), (3, 7, 1, 0, 0), (7, 3, 11, 22, 33)]
    for some in (games, [*games[1:], games[0]]):
        players, counts = columns(some).indexed()
        assert players.tolist() == [-1, 3, 7]
        assert rows(counts) == [(0, 1, 0, 0, 1), (1, 2, 1, 0, 0), (2, 1, 11, 22, 33)]


def with_openings(rows: list[Row], openings: list[int]) -> PairCounts:
    """Rows, each of games that began with an opening."""
    return replace(columns(rows), openings=np.array(openings, dtype=np.int64))


def test_openings_have_rows_of_their_own() -> None:
    """The same two with the same colours on one opening are one row, and pooled one in all."""
    games = [(7, 3, 1, 2, 3), (3, 7, 1, 0, 0), (7, 3, 10, 20, 30), (7, 3, 0, 0, 5)]
    counts = with_openings(games, [9, 9, 4, 9])
    merged = counts.merged()
    assert merged.openings is not None
    assert [*zip(rows(merged), merged.openings.tolist(), strict=True)] == [
        ((3, 7, 1, 0, 0), 9),
        ((7, 3, 10, 20, 30), 4),
        ((7, 3, 1, 2, 8), 9),
    ]
    assert rows(counts.pooled()) == rows(columns(games).merged())
    twice = merged.joined(merged).merged()
    assert twice.openings is not None
    assert twice.openings.tolist() == merged.openings.tolist()
    assert merged.joined(columns(games)).openings is None


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 5)))
def test_distinct_numbers_are_found(numbers: list[int]) -> None:
    """Small ones and hashes of 64 bits, once each and in order."""
    assert distinct(np.array(numbers, dtype=np.int64)).tolist() == sorted(set(numbers))


@given(ROWS, st.randoms(use_true_random=False))
def test_merging_forgets_the_order(some: list[Row], rng: random.Random) -> None:
    """It is the same for shuffled rows, and doing it twice does nothing."""
    shuffled = some.copy()
    rng.shuffle(shuffled)
    merged = columns(some).merged()
    assert rows(columns(shuffled).merged()) == rows(merged)
    assert rows(merged.merged()) == rows(merged)
    assert merged.games == columns(some).games


@given(ROWS, ROWS)
def test_joined_games_are_those_of_both(one: list[Row], other: list[Row]) -> None:
    """Nothing is lost and nothing counted twice."""
    assert rows(columns(one).joined(columns(other))) == rows(columns(one + other))


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

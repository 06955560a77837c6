"""Counts of games by pairs."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ladder.statistics.made_games import Row, counts

from meijin.ladder.statistics.fit.pair_counts import (
    GroupedCounts,
    PairCounts,
    connected_components,
    distinct,
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


# -- units --------------------------------------------------------------------------


def test_what_two_played_on_an_opening_is_a_unit() -> None:
    """Whoever moved first; of two that ended alike one stands for both."""
    games = counts(
        [(7, 3, 1, 0, 0), (3, 7, 0, 1, 0), (7, 3, 1, 0, 0), (3, 7, 0, 1, 0), (3, 9, 0, 0, 2)],
        [4, 4, 5, 5, 4],
    )
    units = GroupedCounts.of(games).units
    assert rows(units.counts) == [(0, 1, 0, 1, 0), (1, 0, 1, 0, 0), (0, 2, 0, 0, 2)]
    assert units.starts.tolist() == [0, 2]
    assert units.times.tolist() == [2, 1]
    assert units.row_times.tolist() == [2, 2, 1]
    assert units.signs.tolist() == [1, -1, 1]
    ends = units.counts.first[units.starts], units.counts.second[units.starts]
    assert [each.tolist() for each in ends] == [[0, 0], [1, 2]]
    played = units.counts.wins + units.counts.draws + units.counts.losses
    assert units.added_up(played).tolist() == [2, 2]


def test_large_units_stand_for_themselves() -> None:
    """They are not compared."""
    games = counts([(1, 2, 20, 0, 0), (1, 2, 20, 0, 0)], [4, 5])
    assert GroupedCounts.of(games).units.times.tolist() == [1, 1]


@pytest.mark.parametrize("openings", [None, [4, 4]])
def test_without_several_openings_rows_are_units(openings: list[int] | None) -> None:
    units = GroupedCounts.of(counts([(1, 2, 3, 0, 1), (2, 1, 1, 0, 0)], openings)).units
    assert units.starts.tolist() == [0, 1]
    assert units.signs.tolist() == [1]


@given(ROWS, st.data())
def test_units_have_all_games(some: list[Row], data: st.DataObject) -> None:
    """Of each two, by colour and result."""
    some = [row for row in some if row[0] != row[1] and any(row[2:])]
    openings = data.draw(st.lists(st.integers(0, 3), min_size=len(some), max_size=len(some)))
    games = GroupedCounts.of(counts(some, openings))
    units = games.units
    times = units.row_times
    wins, draws, losses = (
        times * each for each in (units.counts.wins, units.counts.draws, units.counts.losses)
    )
    again = PairCounts(units.counts.first, units.counts.second, wins, draws, losses)
    assert rows(again.pooled()) == rows(games.pairs)

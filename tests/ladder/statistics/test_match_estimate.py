"""What a match of a fixed length says."""

import math

import pytest

from meijin.ladder.statistics.match_estimate import elo_beyond, estimate_of_match
from meijin.ladder.statistics.sprt import Estimate


def test_pairs_come_before_games() -> None:
    """They know what the opening does to both of their games."""
    pairs = (0, 2, 3, 1, 4)
    assert estimate_of_match((7, 1, 12), pairs) == Estimate.of(pairs)


@pytest.mark.parametrize("pairs", [(0, 0, 5, 0, 0), (0, 0, 0, 0, 0), (0, 1, 0, 1, 0)])
def test_games_tell_where_pairs_do_not(pairs: tuple[int, ...]) -> None:
    """Pairs that all ended alike have no spread, and a few of them leave most games out."""
    assert estimate_of_match((5, 0, 5), pairs) == Estimate.of((5, 0, 5))


def test_games_that_all_ended_alike_have_no_estimate() -> None:
    """An interval without a width would be a lie."""
    assert estimate_of_match((0, 0, 4), (0, 0, 0, 0, 2)) is None
    assert estimate_of_match((0, 4, 0), (0, 0, 2, 0, 0)) is None


@pytest.mark.parametrize("games", [1, 20, 300])
def test_the_bound_of_a_clean_score_is_exact(games: int) -> None:
    """At the bound so many wins in a row have a chance of 5 %."""
    bound = elo_beyond((0, 0, games))
    assert bound is not None
    score = 1 / (1 + 10 ** (-bound / 400))
    assert math.isclose(score**games, 0.05)
    assert elo_beyond((games, 0, 0)) == -bound


@pytest.mark.parametrize("games", [(0, 0, 0), (1, 0, 1), (0, 1, 5), (0, 3, 0)])
def test_other_scores_have_no_bound(games: tuple[int, ...]) -> None:
    """They have an estimate, or say nothing."""
    assert elo_beyond(games) is None

"""Classic Elo against hand-made examples."""

import numpy as np
import pytest
from tests.ladder.statistics.made_games import replay

from meijin.ladder.statistics.elo import START, k_factor, wilson_interval


def test_games_by_hand() -> None:
    """Between newcomers K is 80; a draw of equals moves nothing, and a favourite wins less."""
    assert replay([("a", "b", 0.5)]) == {"a": START, "b": START}
    assert replay([("a", "b", 1)]) == {"a": START + 40, "b": START - 40}
    gain = 800 / 11 * (1 - 1 / (1 + 10 ** (-80 / 400)))
    ratings = replay([("a", "b", 1), ("b", "a", 0)])
    assert ratings == pytest.approx({"a": START + 40 + gain, "b": START - 40 - gain})


def test_each_player_has_its_own_k() -> None:
    """A veteran risks less than the newcomer it loses to."""
    veteran = [("veteran", "other", 0.5)] * 30
    ratings = replay([*veteran, ("veteran", "newcomer", 0)])
    assert ratings["veteran"] == pytest.approx(START - 800 / 40 / 2)
    assert ratings["newcomer"] == pytest.approx(START + 40)


@pytest.mark.parametrize(("games", "k"), [(0, 80), (10, 40), (90, 8), (10_000, 8)])
def test_k_falls_to_8(games: int, k: float) -> None:
    """K is 800 / (n + 10), but never less than 8."""
    assert k_factor(games) == k


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

"""Classic Elo against hand-made examples."""

import pytest

from meijin.ladder.statistics.elo import START, k_factor, replay


def test_the_first_game_moves_40() -> None:
    """Between newcomers a win is worth half of the first K factor, 80."""
    assert replay([("a", "b", 1)]) == {"a": START + 40, "b": START - 40}


def test_a_draw_of_equals_moves_nothing() -> None:
    """Half a point was expected."""
    assert replay([("a", "b", 0.5)]) == {"a": START, "b": START}


def test_the_second_game_by_hand() -> None:
    """The favourite wins again, with K = 800 / 11 and its 80 Elo expected."""
    expected = 1 / (1 + 10 ** (-80 / 400))
    gain = 800 / 11 * (1 - expected)
    ratings = replay([("a", "b", 1), ("b", "a", 0)])
    assert ratings["a"] == pytest.approx(START + 40 + gain)
    assert ratings["b"] == pytest.approx(START - 40 - gain)


def test_each_player_has_its_own_k() -> None:
    """A veteran risks less than the newcomer it loses to."""
    veteran = [("veteran", "other", 0.5)] * 30
    ratings = replay([*veteran, ("veteran", "newcomer", 0)])
    assert ratings["veteran"] == pytest.approx(START - 800 / 40 / 2)
    assert ratings["newcomer"] == pytest.approx(START + 40)


def test_order_matters() -> None:
    """The same games in another order give other numbers: the reason for the fit."""
    games = [("a", "b", 1.0), ("b", "c", 1.0), ("c", "a", 1.0)]
    assert replay(games) != replay(games[::-1])


@pytest.mark.parametrize(("games", "k"), [(0, 80), (10, 40), (90, 8), (10_000, 8)])
def test_k_falls_to_8(games: int, k: float) -> None:
    """K is 800 / (n + 10), but never less than 8."""
    assert k_factor(games) == k


def test_nobody_has_played() -> None:
    """No results, no ratings."""
    results: list[tuple[str, str, float]] = []
    assert replay(results) == {}

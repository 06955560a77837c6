"""Simulated games and the ways to pair them."""

from __future__ import annotations

import numpy as np
import pytest
from simulated import OUTCOMES, SimulatedGames, go_server_round, round_robin

from meijin.ladder.statistics.fit.pair_counts import Integers

ALL = np.arange(10)


def test_results_follow_the_strengths() -> None:
    """In 40,000 games the shares of wins, draws and losses are those of the model."""
    games = SimulatedGames(np.array([100.0, 0.0]), np.random.default_rng(1))
    games.play(np.zeros(40_000, dtype=np.int64), np.ones(40_000, dtype=np.int64))
    counts = games.counts
    assert counts.games == games.count == 40_000
    assert counts.wins[0] / 40_000 == pytest.approx(float(OUTCOMES.wins(100)), abs=0.01)
    assert counts.losses[0] / 40_000 == pytest.approx(float(OUTCOMES.losses(100)), abs=0.01)
    assert games.as_first.tolist() == [40_000, 0]


def test_everyone_has_a_row_and_few_have_met() -> None:
    """Rows without games keep everyone in the fit."""
    games = SimulatedGames(np.zeros(4), np.random.default_rng(1))
    games.play(np.array([2, 2]), np.array([0, 0]))
    assert games.all_counts.players.tolist() == [0, 1, 2, 3]
    assert (games.counts.first.tolist(), games.counts.second.tolist()) == ([2], [0])
    assert games.counts.games == games.all_counts.games == 2


@pytest.mark.parametrize(("players", "meet"), [(ALL, 10), (ALL[:7], 6), (ALL[5:7], 2)])
def test_a_round_pairs_everyone_once(players: Integers, meet: int) -> None:
    """But for an odd one out, and nobody who is not in it."""
    rng = np.random.default_rng(1)
    first, second = go_server_round(
        players, np.linspace(0, 900, 10), np.zeros(10, dtype=np.int64), rng
    )
    seated = np.concatenate((first, second))
    assert len(seated) == len(np.unique(seated)) == meet
    assert np.isin(seated, players).all()


def test_a_round_pairs_neighbours() -> None:
    """Luck lets them meet from further away, but seldom from one end to the other."""
    rng = np.random.default_rng(1)
    elo, none = np.linspace(0, 3800, 20), np.zeros(20, dtype=np.int64)
    rounds = [go_server_round(np.arange(20), elo, none, rng) for _ in range(200)]
    ranks = np.concatenate([np.abs(first - second) for first, second in rounds])
    assert 1 < ranks.mean() < 4
    assert ranks.max() < 12


def test_colours_even_out() -> None:
    """Who has moved first less often does so."""
    games = SimulatedGames(np.zeros(10), np.random.default_rng(1))
    rng = np.random.default_rng(2)
    for _ in range(51):
        games.play(*go_server_round(ALL, np.zeros(10), games.as_first, rng))
    assert 23 <= games.as_first.min() <= games.as_first.max() <= 28


def test_a_round_robin_is_everyone_against_everyone() -> None:
    """With both colours."""
    first, second = round_robin(5, np.random.default_rng(1))
    pairs = set(zip(first.tolist(), second.tolist(), strict=True))
    assert len(first) == len(pairs) == 20
    assert all(one != other for one, other in pairs)

"""Worlds in which bots are not dice do what they say."""

import numpy as np
import pytest
from scenarios import World, WorldGames


def games_of(world: World, meetings: int, seed: int = 1) -> WorldGames:
    """Two bots that meet again and again, with both colours."""
    games = WorldGames(world, np.random.default_rng(seed))
    for _ in range(meetings):
        games.play_both(0, 1)
    return games


def test_results_follow_strengths_and_the_first_move() -> None:
    """By Elo's formula: 60 Elo for the first move, and one draw in ten between equals."""
    games = WorldGames(World(bots=2), np.random.default_rng(1))
    games.strengths[:] = (100.0, 0.0)
    for _ in range(20_000):
        games.play_both(0, 1)
    counts = games.counts
    rows = counts.first == 0
    wins, losses = (column[rows].mean() for column in (counts.wins, counts.losses))
    assert wins == pytest.approx(1 / (1 + 10 ** (-120 / 400)), abs=0.01)
    assert losses == pytest.approx(1 / (1 + 10 ** (200 / 400)), abs=0.01)


def test_a_game_with_a_repeated_opening_is_counted_with_it() -> None:
    """Rows are by pair, colour and opening; without openings of the world each two have their own."""
    few = games_of(World(bots=2, openings=1), 10).counts
    assert len(few.first) == 2
    assert few.games == 20
    assert len(games_of(World(bots=2), 10).counts.first) == 20


def test_deterministic_bots_repeat_their_games() -> None:
    """Every game with an opening ends as the first one did; left out, it counts once."""
    world = World(bots=2, openings=3, repetition=1)
    counts = games_of(world, 30).counts
    assert counts.games == 60
    assert ((counts.wins > 0) + 0 + (counts.draws > 0) + (counts.losses > 0) == 1).all()
    distinct = games_of(World(bots=2, openings=3, repetition=1, leaves_repeats_out=True), 30)
    assert distinct.counts.games == 6
    assert distinct.count == 60


def test_who_does_not_repeat_is_dice() -> None:
    """Also on the only opening."""
    counts = games_of(World(bots=2, openings=1, repetition=1, repeaters=1), 100, seed=2).counts
    assert (counts.wins > 0).all()
    assert (counts.losses > 0).all()


def test_drift_moves_strengths_and_the_mean_lags() -> None:
    """The mean is over the games, and 0 steps leave both where they were."""
    still = games_of(World(bots=2), 50)
    assert still.mean_strengths == pytest.approx(still.strengths)
    games = games_of(World(bots=2, drift=10), 50)
    assert (np.abs(games.mean_strengths - games.strengths) > 1).all()


def test_those_who_have_not_met_stand_in_all_counts() -> None:
    """With rows of nothing, which keep them in a fit."""
    counts = games_of(World(bots=4), 1).all_counts
    assert counts.players.tolist() == [0, 1, 2, 3]
    assert counts.games == 2

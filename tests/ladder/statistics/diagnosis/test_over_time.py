"""Trends and steps of strengths, on pools that change as they are told to."""

import numpy as np
import pytest
from tests.ladder.statistics.made_games import (
    OUTCOMES,
    expected_games,
    leads_of,
    random_pairs,
    rows_at,
    shuffled,
)

from meijin.ladder.statistics.diagnosis.over_time import Drift, Steps, points_over_time
from meijin.ladder.statistics.diagnosis.random_walks import walked
from meijin.ladder.statistics.diagnosis.residuals import Points, in_blocks
from meijin.ladder.statistics.fit.bradley_terry import fit
from meijin.ladder.statistics.fit.pair_counts import Floats, PairCounts

BOTS = 8


def in_order(by: Floats) -> PairCounts:
    """Equals, the first of whom is this many Elo stronger in each of some blocks of games."""
    first = np.eye(BOTS)[0]
    parts = [expected_games(leads_of(each * first), 5) for each in by.tolist()]
    times = np.repeat(np.arange(len(by)), len(parts[0].first))
    games = parts[0].joined(*parts[1:])
    return PairCounts(games.first, games.second, games.wins, games.draws, games.losses, times)


def over_time(games: PairCounts) -> Points:
    return points_over_time(fit(games.pooled()), games)


def played(
    games: int, *, step: float = 0.0, jump: float = 0.0, bots: int = 20, seed: int = 1
) -> Points:
    """The points of this many games, after each of which strengths walk; three jump at half."""
    rng = np.random.default_rng(seed)
    strengths = rng.normal(0, 150, bots)
    first, second = random_pairs(bots, games, rng).T
    results = np.zeros((3, games))
    steps, luck = rng.normal(0, step, (games, 2)), rng.random(games)
    for game in range(games):
        if game == games // 2:
            strengths[:3] += jump
        one, other = first[game], second[game]
        lead = strengths[one] - strengths[other]
        won, lost = luck[game] < OUTCOMES.wins(lead), luck[game] > 1 - OUTCOMES.losses(lead)
        results[0 if won else 2 if lost else 1, game] = 1
        strengths[[one, other]] += steps[game]
    wins, draws, losses = results
    return over_time(PairCounts(first, second, wins, draws, losses, in_blocks(games, 64)))


def test_a_trend_is_found_and_measured() -> None:
    """400 Elo over 700 games of the first; the others only seem to fall."""
    drift = Drift.of(over_time(in_order(np.linspace(-200, 200, 10))))
    assert drift.deviations.argmax() == 0
    assert drift.deviations[0] > 6
    assert 100 * drift.elo_per_game[0] == pytest.approx(400 / 7, rel=0.2)
    assert (np.abs(drift.deviations[1:]) < 2).all()


def test_a_step_is_found_where_it_was() -> None:
    """The last three of ten blocks of 70 games; the others only seem to step down a little."""
    steps = Steps.of(over_time(in_order(np.array([0.0] * 7 + [200.0] * 3))))
    assert steps.games[0] == 210
    assert steps.elo[0] == pytest.approx(200, rel=0.2)
    assert steps.p_values[0] < 1e-6
    assert (np.abs(steps.deviations[1:]) < 2).all()
    assert (steps.p_values[1:] > 0.2).all()


def test_rows_may_come_in_any_order() -> None:
    """Times say when, and only their order counts."""
    games = in_order(np.linspace(-100, 100, 10))
    assert games.openings is not None
    known, (other, _) = fit(games.pooled()), shuffled(games)
    assert other.openings is not None
    later = PairCounts(
        other.first, other.second, other.wins, other.draws, other.losses, 1000 + 7 * other.openings
    )
    found, wanted = (points_over_time(known, each) for each in (later, games))
    assert found.scored == pytest.approx(wanted.scored)
    assert found.expected == pytest.approx(wanted.expected)


def test_older_games_are_one_time_before() -> None:
    """The newest alone are told by time, and a step between the others and them is found."""
    games = in_order(np.array([0.0] * 6 + [250.0] * 4))
    assert games.openings is not None
    newest = games.openings >= 6
    known = fit(games.pooled())
    over = points_over_time(known, rows_at(games, newest))
    assert over.games[0].tolist() == pytest.approx([420, 70, 70, 70, 70])
    assert Steps.of(over).games[0] == pytest.approx(280)


def test_those_who_stay_do_not_change() -> None:
    """Nor is anybody tested where all games are of one time, and nothing is divided by 0."""
    games = in_order(np.zeros(10))
    over = over_time(games)
    assert np.abs(Drift.of(over).deviations).max() < 1e-3
    assert np.abs(Steps.of(over).deviations).max() < 1e-3
    at_once = points_over_time(
        fit(games.pooled()),
        PairCounts(
            games.first,
            games.second,
            games.wins,
            games.draws,
            games.losses,
            np.zeros_like(games.first),
        ),
    )
    for found in (Drift.of(at_once), Steps.of(at_once)):
        assert not found.is_tested.any()
        assert found.deviations.tolist() == [0.0] * BOTS
        assert found.p_values.tolist() == [1.0] * BOTS
    assert walked(at_once).tolist() == [0.0] * BOTS


@pytest.mark.long
def test_steps_by_luck_are_as_rare_as_is_told() -> None:
    """One p-value in twenty is below 0.05, or fewer: between two times nobody looks."""
    p_values = np.concatenate([Steps.of(played(1_500, seed=seed)).p_values for seed in range(40)])
    assert 0.01 < np.mean(p_values < 0.05) < 0.06


def test_a_walk_of_all_is_measured() -> None:
    """Steps of 4 Elo over 800 games of each: a third of their variance is how far each is now."""
    squares = np.mean([walked(played(8_000, step=4, seed=seed)).mean() for seed in range(3)])
    assert squares == pytest.approx(4**2 * 800 / 3, rel=0.35)


def test_one_who_jumps_makes_only_itself_less_sure() -> None:
    """300 Elo of three: theirs are far off their means, and those of the others hardly."""
    squares = np.mean([walked(played(2_000, jump=300, seed=seed)) for seed in range(5)], axis=0)
    assert squares[:3].min() > 100**2
    assert squares[3:].mean() < squares[:3].min() / 4


def test_strengths_that_stay_hardly_widen() -> None:
    """Where all is dice nobody is taken to walk."""
    squares = [walked(played(1_500, seed=seed)).mean() for seed in range(10)]
    assert np.median(squares) < 8**2


def test_few_games_say_nothing() -> None:
    """Nobody is looked at then."""
    assert not walked(played(30)).any()

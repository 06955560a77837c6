"""Widths estimated from games whose makers are known, and against the slow algorithm."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from tests.ladder.statistics.made_games import OUTCOMES, contents, counts, random_pairs

from meijin.ladder.statistics.fit.bradley_terry import Outcomes, Prior, fit
from meijin.ladder.statistics.fit.covariance import covariance
from meijin.ladder.statistics.fit.empirical_bayes import (
    DRAW_SLOPE,
    LEAST_LINEAGE,
    LINKS_OF_PRIOR,
    SHOWN,
    fit_with_widths,
    shows_draw_slope,
    shows_openings,
)
from meijin.ladder.statistics.fit.lineage import Lineage
from meijin.ladder.statistics.fit.pair_counts import Floats, PairCounts
from meijin.ladder.statistics.fit.shared_openings import SharedOpenings


class World(NamedTuple):
    """Games whose makers are known."""

    strengths: Floats
    steps: Floats
    """From each parent to its child, in Elo."""
    effects: Floats
    """Of the openings, in Elo."""
    counts: PairCounts
    lineage: Lineage


def world(
    *,
    games: int,
    bots: int = 20,
    versions: int = 1,
    step: float = 0,
    opening: float = 0,
    openings: int = 40,
    draw_slope: float = 0,
    seed: int = 1,
) -> World:
    """So many games between versions that improve at random, in pairs on one of the openings."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(0, step, (bots, versions))
    steps[:, 0] = rng.normal(0, 200, bots)
    strengths = steps.cumsum(axis=1).ravel()
    effects = rng.normal(0, opening, openings)
    pairs = random_pairs(len(strengths), games // 2, rng)
    first, second = np.concatenate((pairs, pairs[:, ::-1])).T
    began = np.tile(rng.integers(0, openings, games // 2), 2)
    difference = strengths[first] - strengths[second] + effects[began]
    outcomes = Outcomes(60.0, 40.0, draw_slope=draw_slope, level=float(strengths.mean()))
    made, luck = outcomes.between(strengths[first], strengths[second]), rng.random(games)
    won, lost = luck < made.wins(difference), luck > 1 - made.losses(difference)
    wins, draws, losses = np.array([won, ~won & ~lost, lost]).astype(np.float64)
    child = np.setdiff1d(np.arange(len(strengths)), np.arange(0, len(strengths), versions))
    lineage = Lineage(child, child - 1, np.ones_like(child))
    return World(
        strengths,
        steps[:, 1:].ravel(),
        effects,
        PairCounts(first, second, wins, draws, losses, began),
        lineage,
    )


def rms(values: Floats) -> float:
    return float(np.sqrt((values**2).mean()))


@pytest.mark.parametrize("width", [80.0, 150.0, 250.0])
def test_the_width_of_a_lineage_comes_back(width: float) -> None:
    """That of the 80 steps drawn, within an eighth."""
    made = world(games=12_000, versions=5, step=width)
    found = fit_with_widths(made.counts, made.lineage).prior
    assert found.lineage == pytest.approx(rms(made.steps), rel=0.125)
    assert found.opening == 0


@pytest.mark.parametrize(("openings", "width"), [(40, 150.0), (10**9, 300.0)])
def test_the_width_of_openings_comes_back(openings: int, width: float) -> None:
    """Of a few, within a sixth of that of those drawn, and of as many as there are pairs of games."""
    rng = np.random.default_rng(3)
    made = world(games=10_000, opening=width, openings=min(openings, 5_000))
    counts = made.counts
    if openings > len(made.effects):  # no opening comes again
        fresh = np.tile(rng.permutation(5_000), 2)
        lead = made.strengths[counts.first] - made.strengths[counts.second] + made.effects[fresh]
        won = rng.random(10_000) < OUTCOMES.wins(lead)
        wins = won.astype(np.float64)
        counts = PairCounts(counts.first, counts.second, wins, 0 * wins, 1 - wins, fresh)
    found = fit_with_widths(counts)
    assert found.prior.opening == pytest.approx(made.effects.std(), rel=1 / 6)
    assert shows_openings(found)


def test_openings_do_not_press_strengths_together() -> None:
    """Where they decide many games, a fit without them has all closer to each other."""
    made = world(games=40_000, bots=8, opening=300, openings=400)
    found, plain = fit_with_widths(made.counts), fit(made.counts)
    truth = made.strengths - made.strengths.mean()
    scale, pressed = ((each.elo @ truth) / (truth @ truth) for each in (found, plain))
    assert scale == pytest.approx(1, abs=0.05)
    assert pressed < 0.85


@pytest.mark.long
def test_it_rests_where_expectation_maximisation_does() -> None:
    """Which is slow, and sure to climb: 300 of its steps end within an Elo of the width."""
    made = world(games=600, bots=8, versions=3, step=120)
    games, lineage = made.counts.pooled(), made.lineage
    width = 150.0
    for _ in range(300):
        now = fit(games, Prior(lineage=width), lineage=lineage)
        steps = now.elo[lineage.child] - now.elo[lineage.parent]
        variances = covariance(now).of_differences(lineage.child, lineage.parent)
        squares = float((steps**2 + variances).sum()) + LINKS_OF_PRIOR * 150.0**2
        width = (squares / (len(lineage) + LINKS_OF_PRIOR)) ** 0.5
    assert fit_with_widths(games, lineage).prior.lineage == pytest.approx(width, abs=1)


def test_openings_alike_have_no_effects() -> None:
    """Then the fit is that of games whose openings nobody tells, to the byte."""
    made = world(games=5_000, seed=2)
    assert SharedOpenings.of(fit(made.counts)).deviations < SHOWN
    assert contents(fit_with_widths(made.counts)) == contents(fit_with_widths(made.counts.pooled()))


def test_repeated_games_are_no_effect_of_openings() -> None:
    """What comes again with the same colours tells of who plays, not of the opening."""
    made = world(games=600, seed=2).counts
    games = PairCounts(
        made.first, made.second, 5 * made.wins, 5 * made.draws, 5 * made.losses, made.openings
    )
    assert SharedOpenings.of(fit(games)).deviations < SHOWN


@pytest.mark.long
def test_the_test_for_effects_errs_as_often_as_it_says() -> None:
    """About standard normal in worlds without any."""
    found = [
        SharedOpenings.of(fit(world(games=1_500, bots=5, seed=seed).counts)).deviations
        for seed in range(150)
    ]
    assert np.mean(found) == pytest.approx(0, abs=0.3)
    assert np.std(found) == pytest.approx(1, abs=0.2)
    assert np.mean(np.array(found) > SHOWN) < 0.04


def test_few_links_leave_the_default() -> None:
    """One of two versions that drew four games says next to nothing."""
    made = counts([(1, 2, 1, 0, 1), (2, 1, 1, 0, 1)])
    found = fit_with_widths(made, Lineage(*np.array([(2, 1, 1)]).T))
    assert found.prior.lineage == pytest.approx(Prior().lineage, rel=0.15)


def test_without_links_the_default_is_kept() -> None:
    """And without a draw the fit is the plain one, to the byte."""
    games = world(games=500).counts
    games = replace(games, wins=games.wins + games.draws, draws=np.zeros_like(games.draws))
    found = fit_with_widths(games)
    assert contents(found) == contents(fit(games))
    assert found.prior == Prior(draw_slope=DRAW_SLOPE)


@pytest.mark.parametrize("draw_slope", [0.0, 0.4, -0.3])
def test_draws_that_depend_on_strength_are_found(draw_slope: float) -> None:
    """Their slope and their width between two of mean strength come back."""
    found = fit_with_widths(world(games=60_000, draw_slope=draw_slope).counts).outcomes
    assert found.draw_slope == pytest.approx(draw_slope, abs=0.06)
    assert found.draws == pytest.approx(40, abs=4)


@pytest.mark.parametrize(("draw_slope", "shown"), [(0.0, False), (0.5, True), (-0.5, True)])
def test_a_slope_of_draws_is_shown_where_it_is_sure(draw_slope: float, *, shown: bool) -> None:
    """Noise is not, and nothing is without a draw."""
    made = world(games=4_000, draw_slope=draw_slope).counts
    assert shows_draw_slope(fit_with_widths(made)) is shown
    assert not shows_draw_slope(fit_with_widths(replace(made, draws=np.zeros_like(made.draws))))


def test_one_lost_game_among_draws_is_no_abyss() -> None:
    """Where two draw all games and the others none, who has lost once is not taken for hopeless."""
    decided = [(1, 2, 60, 0, 60), (2, 1, 60, 0, 60), (1, 3, 30, 0, 0), (4, 2, 0, 0, 1)]
    assert fit_with_widths(counts([*decided, (2, 3, 0, 30, 0)])).elo.min() > -900


def test_a_width_has_a_floor() -> None:
    """Versions that never differ leave room for one that does."""
    made = world(games=60_000, bots=40, versions=5, step=0)
    assert LEAST_LINEAGE <= fit_with_widths(made.counts, made.lineage).prior.lineage < 45


def test_the_fit_is_that_of_the_width_alone() -> None:
    """In whole Elo: the way there leaves no trace that anybody is shown."""
    made = world(games=3_000, bots=10, versions=3, step=90, opening=120)
    found = fit_with_widths(made.counts, made.lineage)
    widths = replace(
        Prior(draw_slope=DRAW_SLOPE),
        lineage=round(found.prior.lineage),
        opening=round(found.prior.opening),
    )
    assert found.prior == widths
    again = fit(made.counts, widths, lineage=made.lineage, levels=found.levels)
    assert found.elo == pytest.approx(again.elo, abs=2e-5)


def test_nobody_has_played() -> None:
    """Then there is nothing to estimate from."""
    assert fit_with_widths(counts([], []), Lineage.none()).players.size == 0

"""Widths estimated from games whose makers are known, and against the slow algorithm.

Prior sensitivity against fits from scratch and BayesElo's prior as the golden tests write it.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from tests.ladder.statistics.made_games import contents, counts, random_pairs

from meijin.ladder.statistics.fit import laplacian
from meijin.ladder.statistics.fit.bradley_terry import Outcomes, Prior, fit
from meijin.ladder.statistics.fit.covariance import covariance
from meijin.ladder.statistics.fit.empirical_bayes import (
    DRAW_SLOPE,
    LEAST_LINEAGE,
    LINKS_OF_PRIOR,
    fit_with_widths,
    shows_draw_slope,
    shows_effects,
)
from meijin.ladder.statistics.fit.lineage import Lineage
from meijin.ladder.statistics.fit.pair_counts import Floats, PairCounts


class World(NamedTuple):
    """Games whose makers are known."""

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
    draw_slope: float = 0,
    seed: int = 1,
) -> World:
    """So many games between versions that improve at random, on forty openings."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(0, step, (bots, versions))
    steps[:, 0] = rng.normal(0, 200, bots)
    strengths = steps.cumsum(axis=1).ravel()
    effects = rng.normal(0, opening, 40)
    first, second = random_pairs(len(strengths), games, rng).T
    openings = rng.integers(0, 40, games)
    difference = strengths[first] - strengths[second] + effects[openings]
    outcomes = Outcomes(60.0, 40.0, draw_slope, float(strengths.mean()))
    made, luck = outcomes.between(strengths[first], strengths[second]), rng.random(games)
    won, lost = luck < made.wins(difference), luck > 1 - made.losses(difference)
    results = np.array([won, ~won & ~lost, lost]).astype(float)
    child = np.setdiff1d(np.arange(len(strengths)), np.arange(0, len(strengths), versions))
    lineage = Lineage(child, child - 1, np.ones_like(child))
    return World(
        steps[:, 1:].ravel(),
        effects,
        replace(PairCounts(first, second, *results), openings=openings),
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


@pytest.mark.parametrize("width", [60.0, 150.0])
def test_the_width_of_openings_comes_back(width: float) -> None:
    """That of the forty drawn, within an eighth; and so do their effects."""
    made = world(games=10_000, opening=width)
    found = fit_with_widths(made.counts)
    assert found.prior.opening == pytest.approx(made.effects.std(), rel=0.125)
    errors = found.opening_elo - (made.effects - made.effects.mean())
    spread = np.sqrt(found.opening_variances)
    assert np.abs(errors / spread).max() < 4
    assert 0.5 < rms(errors) / spread.mean() < 1.5


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


@pytest.mark.parametrize("seed", range(4))
def test_openings_alike_have_no_effects(seed: int) -> None:
    """Then the fit is that of games whose openings nobody tells, to the byte."""
    made = world(games=5_000, seed=seed)
    assert not shows_effects(fit(made.counts))
    assert contents(fit_with_widths(made.counts)) == contents(fit_with_widths(made.counts.pooled()))


@pytest.mark.long
def test_the_test_for_effects_errs_as_often_as_it_says() -> None:
    """In about one of twenty worlds without any."""
    shown = [
        shows_effects(fit(world(games=1_500, bots=5, seed=seed).counts)) for seed in range(150)
    ]
    assert 0.01 < np.mean(shown) < 0.11


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
    assert found.opening_elo == pytest.approx(again.opening_elo, abs=2e-5)


def test_large_pools_have_a_lineage_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the same width, though the covariance is a series; openings have no effects."""
    made = world(games=6_000, bots=30, versions=3, step=100, opening=150)
    dense = fit_with_widths(made.counts.pooled(), made.lineage)
    monkeypatch.setattr(laplacian, "DENSE", 0)
    sparse = fit_with_widths(made.counts, made.lineage)
    assert sparse.prior.lineage == pytest.approx(dense.prior.lineage, abs=2)
    assert sparse.prior.opening == 0


def test_nobody_has_played() -> None:
    """Then there is nothing to estimate from."""
    assert fit_with_widths(counts([], []), Lineage.none()).players.size == 0

"""Recent form and one-sided bounds, against likelihoods written out and what games were drawn from."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.ladder.statistics.made_games import OUTCOMES, Row, counts

from meijin.ladder.statistics.fit.bradley_terry import Fit, Prior, fit
from meijin.ladder.statistics.fit.covariance import Z_95
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers
from meijin.ladder.statistics.intervals.performance import Performance, one_sided_bounds

Games = tuple[Integers, Integers, Floats]


def drawn(strengths: Floats, games: int, rng: np.random.Generator) -> Games:
    """Games between random players, by lot."""
    first = rng.integers(0, len(strengths), games)
    second = (first + rng.integers(1, len(strengths), games)) % len(strengths)
    lead, luck = strengths[first] - strengths[second], rng.random(games)
    won, lost = luck < OUTCOMES.wins(lead), luck > 1 - OUTCOMES.losses(lead)
    return first, second, np.where(won, 1.0, np.where(lost, 0.0, 0.5))


def fit_of(games: Games) -> Fit:
    first, second, points = games
    results = (points == 1, points == 0.5, points == 0)
    return fit(counts(np.column_stack((first, second, *results)).tolist()))


def performance(fitted: Fit, games: Games) -> Performance:
    return Performance.of(fitted, *games, bounded=np.ones(len(fitted.players), dtype=bool))


def log_posterior(fitted: Fit, games: Games, player: int, elo: float) -> float:
    """Of a player's strength by its last 100 games, the others being as rated."""
    first, second, points = games
    rows = np.flatnonzero((first == player) | (second == player))[-100:]
    value = -(((elo - fitted.level) / fitted.prior.strength) ** 2) / 2
    for one, other, won in zip(first[rows], second[rows], points[rows], strict=True):
        ratings = [elo if each == player else fitted.elo[each] for each in (one, other)]
        wins, losses = (
            float(chance(ratings[0] - ratings[1]))
            for chance in (fitted.outcomes.wins, fitted.outcomes.losses)
        )
        value += math.log({1.0: wins, 0.5: 1 - wins - losses, 0.0: losses}[won])
    return value


def test_form_is_the_most_likely_strength_in_the_last_games() -> None:
    """And its margin that of the curvature there; the prior is that of a version without parent."""
    games = drawn(np.array([0.0, 200, -150, 50]), 400, np.random.default_rng(3))
    fitted = replace(fit_of(games), level=300.0)
    found = performance(fitted, games)
    assert found.form_games.tolist() == [100] * 4
    for player in range(4):
        at = float(found.form[player])
        below, here, above = (log_posterior(fitted, games, player, at + off) for off in (-5, 0, 5))
        assert here > max(below, above)
        assert (above - below) / 10 == pytest.approx(0, abs=1e-4)
        deviation = (25 / (2 * here - below - above)) ** 0.5
        assert found.form_margin[player] == pytest.approx(Z_95 * deviation, rel=0.01)


def test_form_is_over_all_openings() -> None:
    """Where they differ, it is on the scale of the ratings: not pressed together."""
    games = drawn(np.array([0.0, 400]), 100, np.random.default_rng(3))
    plain = fit_of(games)
    fitted = fit(plain.counts, Prior(opening=300.0))
    found, pressed = performance(fitted, games), performance(plain, games)
    assert found.form[1] == pytest.approx(fitted.elo[1], abs=0.15 * fitted.elo[1])
    assert found.form[1] > 1.15 * pressed.form[1]


def test_form_follows_who_changes() -> None:
    """300 games of one strength and 100 of another are told by the latter."""
    rng = np.random.default_rng(1)
    before, after = np.array([0.0, 0, 0, 0]), np.array([300.0, 0, 0, 0])
    parts = (drawn(before, 600, rng), drawn(after, 200, rng))
    first, second, points = (np.concatenate(each) for each in zip(*parts, strict=True))
    games = first.astype(np.int64), second.astype(np.int64), points.astype(float)
    fitted = fit_of(games)
    found = performance(fitted, games).shifted(1500)
    lead = found.form - found.form[1:].mean()
    assert lead[0] == pytest.approx(300, abs=1.5 * found.form_margin[0])
    assert fitted.elo[0] - fitted.elo[1:].mean() < 150


def test_few_games_have_no_form() -> None:
    """And 20 won ones a finite one."""
    first, second = np.array([0] * 20 + [2] * 19), np.array([1] * 39)
    games = first, second, np.ones(39)
    found = performance(fit_of(games), games)
    assert found.form_games.tolist() == [20, 39, None]
    assert found.form.tolist()[2] is None
    assert 100 < found.form[0] - found.form[1] < 3000


def test_intervals_of_form_hold() -> None:
    """Of dice, 95 % of them."""
    hits = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        strengths = rng.normal(0, 200, 12)
        games = drawn(strengths, 1_200, rng)
        found = performance(fit_of(games), games)
        errors = found.form - (strengths - strengths.mean())
        hits += (np.abs(errors) < found.form_margin).tolist()
    assert 0.92 < np.mean(hits) < 0.98


def bounds_of(*rows: Row) -> tuple[Fit, list[float | None]]:
    fitted = fit(counts(rows), Prior(advantage=0))
    return fitted, one_sided_bounds(fitted, np.ones(len(fitted.players), dtype=bool)).tolist()


def test_the_bound_of_a_perfect_score() -> None:
    """With it one would have won all 64 games with a chance of 5 %."""
    fitted, (won, mixed, lost) = bounds_of((0, 1, 32, 0, 0), (1, 0, 0, 0, 32), (1, 2, 64, 0, 0))
    share = 0.05 ** (1 / 64)
    lead = 400 * math.log10(share / (1 - share))
    assert won == pytest.approx(fitted.elo[1] + lead)
    assert lost == pytest.approx(fitted.elo[1] - lead)
    assert mixed is None


def test_bounds_allow_for_colours_and_draws() -> None:
    """Of several opponents, by the product of the chances of all games."""
    rows = [(1, 2, 30, 10, 10), (2, 1, 30, 10, 10), (0, 1, 5, 0, 0), (2, 0, 0, 0, 7)]
    fitted = fit(counts(rows))
    bound, *others = one_sided_bounds(fitted, np.ones(3, dtype=bool)).tolist()
    assert others == [None, None]
    outcomes = fitted.outcomes
    all_won = (
        outcomes.wins(bound - fitted.elo[1]) ** 5 * outcomes.losses(fitted.elo[2] - bound) ** 7
    )
    assert float(all_won) == pytest.approx(0.05)
    assert one_sided_bounds(fitted, np.zeros(3, dtype=bool)).tolist() == [None] * 3

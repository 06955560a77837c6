"""Lineage and openings in the fit, against the definition of the model and an optimum found otherwise."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from tests.ladder.statistics.made_games import contents, counts, rows_at, shuffled, swapped

from meijin.ladder.statistics.fit.bradley_terry import NoFitError, Prior, fit
from meijin.ladder.statistics.fit.covariance import covariance
from meijin.ladder.statistics.fit.lineage import Lineage
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, PairCounts

PRIOR = Prior(strength=500.0, advantage=300.0, draws=400.0, lineage=80.0, opening=120.0)
LINEAGE = Lineage(*np.array([(12, 11, 1), (14, 12, 3)]).T)
OPENINGS = 3
EFFECTS = np.linspace(-840.0, 840.0, 401)
"""Of an opening; Elo."""


def made_games(seed: int, players: Integers, rows: int = 60) -> PairCounts:
    """Random counts among some players with openings 0 to 3, the last of which is rare."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, len(players), rows)
    second = (first + rng.integers(1, len(players), rows)) % len(players)
    openings = rng.integers(0, OPENINGS, rows)
    openings[0] = OPENINGS
    results = rng.integers(0, 4, (3, rows)).astype(float)
    results[:, 0] = (1, 0, 2)
    return replace(PairCounts(players[first], players[second], *results), openings=openings)


PLAYERS = np.array([3, 11, 12, 14])
GAMES = made_games(1, PLAYERS)


RESULTS = np.column_stack((GAMES.wins, GAMES.draws, GAMES.losses))


def log_prior(values: Floats) -> float:
    """By `PRIOR` and `LINEAGE`; values in Elo: the four strengths, the advantage and the draws."""
    elo = dict(zip(PLAYERS.tolist(), values[:4].tolist(), strict=True))
    advantage, draws = values[4:].tolist()

    def log_normal(value: float, deviation: float) -> float:
        return -((value / deviation) ** 2) / 2

    total = log_normal(elo[3], 500) + log_normal(elo[11], 500)
    total += log_normal(elo[12] - elo[11], 80) + log_normal(elo[14] - elo[12], 80 * math.sqrt(3))
    return total + log_normal(advantage, 300) + log_normal(draws, 400)


def chances(values: Floats) -> Floats:
    """Of the results of a game of each row, which are means over openings; shape (rows, 3)."""
    elo = dict(zip(PLAYERS.tolist(), values[:4].tolist(), strict=True))
    advantage, draws = values[4:].tolist()
    weights = np.exp(-((EFFECTS / 120) ** 2) / 2)
    weights /= weights.sum()
    found = []
    for row in range(len(GAMES.first)):
        difference = elo[int(GAMES.first[row])] - elo[int(GAMES.second[row])] + advantage + EFFECTS
        win = float(weights @ (1 / (1 + 10 ** (-(difference - draws) / 400))))
        loss = float(weights @ (1 / (1 + 10 ** ((difference + draws) / 400))))
        found.append((win, 1 - win - loss, loss))
    return np.array(found)


def log_posterior(values: Floats) -> float:
    """Of `GAMES`, row by row from the definition; values in Elo."""
    return log_prior(values) + float((RESULTS * np.log(chances(values))).sum())


def information(values: Floats, step: float = 0.01) -> Floats:
    """What the prior says, and games are expected to tell (Fisher's)."""
    moves = step * np.eye(len(values))
    slopes = np.array([chances(values + a) - chances(values - a) for a in moves]) / (2 * step)
    expected = RESULTS.sum(axis=1)[:, None] / chances(values)
    told: Floats = np.einsum("akr,bkr,kr->ab", slopes, slopes, expected)
    return told - hessian(log_prior, values)


def hessian(function: Callable[[Floats], float], at: Floats, step: float = 0.5) -> Floats:
    moves = step * np.eye(len(at))
    rows = [
        [
            function(at + a + b)
            - function(at + a - b)
            - function(at - a + b)
            + function(at - a - b)
            for b in moves
        ]
        for a in moves
    ]
    return np.array(rows) / (4 * step**2)


def gradient(function: Callable[[Floats], float], at: Floats, step: float = 0.01) -> Floats:
    moves = step * np.eye(len(at))
    return np.array([function(at + a) - function(at - a) for a in moves]) / (2 * step)


@pytest.fixture(scope="module")
def optimum() -> Floats:
    """The top of `log_posterior`, by Newton's method on nothing but its values."""
    at = np.array([0.0, 0, 0, 0, 0, 60])
    for _ in range(12):
        at = at - np.linalg.solve(hessian(log_posterior, at), gradient(log_posterior, at))
    assert np.abs(gradient(log_posterior, at)).max() < 1e-7
    return at


def test_the_fit_is_the_optimum_of_the_definition(optimum: Floats) -> None:
    """Strengths, advantage and draws, to a thousandth of an Elo."""
    found = fit(GAMES, PRIOR, lineage=LINEAGE)
    assert found.elo - found.level == pytest.approx(optimum[:4], abs=1e-3)
    assert found.outcomes.advantage == pytest.approx(optimum[4], abs=1e-3)
    assert found.outcomes.draws == pytest.approx(optimum[5], abs=1e-3)


def test_the_covariance_is_that_of_the_definition(optimum: Floats) -> None:
    """The inverse of the whole information: strengths with all else unknown.

    Where openings differ that is what games are expected to tell.
    """
    whole = np.linalg.inv(information(optimum))
    found = fit(GAMES, PRIOR, lineage=LINEAGE)
    one, other = np.triu_indices(4, 1)
    wanted = np.diagonal(whole)[one] + np.diagonal(whole)[other] - 2 * whole[one, other]
    assert covariance(found).of_differences(one, other) == pytest.approx(wanted, rel=1e-3)


def test_order_makes_no_difference() -> None:
    """The same rows and links give the same bytes, shuffled."""
    turned = Lineage(LINEAGE.child[::-1], LINEAGE.parent[::-1], LINEAGE.steps[::-1])
    found = contents(fit(shuffled(GAMES)[0], PRIOR, lineage=turned))
    assert found == contents(fit(GAMES, PRIOR, lineage=LINEAGE))


def test_swapped_colours_flip_the_advantage() -> None:
    """Calling the second mover the first changes its sign alone."""
    one, two = (fit(games, PRIOR, lineage=LINEAGE) for games in (GAMES, swapped(GAMES)))
    assert two.elo == pytest.approx(one.elo, abs=1e-6)
    assert two.outcomes.advantage == pytest.approx(-one.outcomes.advantage, abs=1e-6)


def test_a_lineage_of_infinite_width_or_of_others_is_none() -> None:
    """Nor is one of which no link has both ends in the games, to the byte."""
    plain, others = contents(fit(GAMES)), Lineage(*np.array([(12, 99, 1), (98, 3, 1)]).T)
    assert contents(fit(GAMES, Prior(lineage=math.inf), lineage=LINEAGE)) == plain
    assert contents(fit(GAMES, lineage=others)) == plain


def test_a_narrow_lineage_makes_one_of_two_versions() -> None:
    """Both get the rating that they have when their games are counted as one player's."""
    apart = ~np.isin((GAMES.first, GAMES.second), (3, 14)).all(axis=0)
    games = rows_at(GAMES, apart)
    known = fit(games, Prior(lineage=0.01), lineage=Lineage(*np.array([(14, 3, 1)]).T))
    first, second = (np.where(side == 14, 3, side) for side in (games.first, games.second))
    one = fit(replace(games, first=first, second=second))
    assert known.elo[3] == pytest.approx(known.elo[0], abs=0.01)
    assert known.elo[:3] - known.elo[0] == pytest.approx(one.elo - one.elo[0], abs=0.01)


def test_a_new_version_without_results_is_where_its_parent_is() -> None:
    """Its interval is the parent's and the lineage's together."""
    nothing = counts([(20, 3, 0, 0, 0)])
    lineage = Lineage(*np.array([(20, 14, 4)]).T)
    found = fit(GAMES.pooled().joined(nothing), Prior(lineage=100.0), lineage=lineage)
    assert found.elo[4] == pytest.approx(found.elo[3], abs=1e-4)
    variances = covariance(found)
    child, parent = (variances.of_differences(np.array([each]), np.array([0])) for each in (4, 3))
    assert child - parent == pytest.approx(200.0**2)


def test_openings_without_a_width_are_not_looked_at() -> None:
    """The fit is that of games whose openings nobody tells, to the byte."""
    assert contents(fit(GAMES)) == contents(fit(GAMES.pooled()))


def test_a_fit_near_another_is_the_same() -> None:
    """Begun at that of another prior, it ends at the same top in no more steps."""
    other = fit(GAMES, Prior(lineage=200.0, opening=40.0), lineage=LINEAGE)
    cold = fit(GAMES, PRIOR, lineage=LINEAGE)
    warm = fit(GAMES, PRIOR, lineage=LINEAGE, near=other)
    assert warm.steps <= cold.steps
    assert warm.elo == pytest.approx(cold.elo, abs=1e-5)


def test_a_lineage_connects_where_there_is_no_prior() -> None:
    """Two groups that only a version and its parent link have a fit."""
    free = Prior(math.inf, 0.0, math.inf, lineage=50.0)
    rows = counts([(1, 2, 5, 1, 3), (8, 9, 2, 1, 4)])
    with pytest.raises(NoFitError):
        fit(rows, free)
    found = fit(rows, free, lineage=Lineage(*np.array([(8, 2, 1)]).T))
    assert found.elo[2] == pytest.approx(found.elo[1], abs=1e-6)

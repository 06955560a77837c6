"""The posterior updated game by game between two fits, against matrices inverted anew."""

import copy
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ladder.statistics.made_games import OUTCOMES, all_pairs

from meijin.ladder.statistics.fit.bradley_terry import ELO_PER_NAT, Fit, fit
from meijin.ladder.statistics.fit.covariance import covariance
from meijin.ladder.statistics.fit.pair_counts import Floats, PairCounts
from meijin.ladder.statistics.pairing.online_posterior import OnlinePosterior

PLAYERS = 5
PRIOR = 600.0
Game = tuple[int, int, float]
"""Who moved first, the other, and the first one's points."""

GAMES = st.lists(
    st.tuples(
        st.integers(0, PLAYERS - 1), st.integers(0, PLAYERS - 1), st.sampled_from((0.0, 0.5, 1.0))
    ).filter(lambda game: game[0] != game[1]),
    max_size=12,
)


def league(games: int = 10) -> PairCounts:
    """A small random league: everyone meets everyone so often with each colour."""
    rng = np.random.default_rng(1)
    pairs = all_pairs(PLAYERS)
    results = rng.multinomial(games, (0.5, 0.1, 0.4), len(pairs)).astype(float)
    return PairCounts(*pairs.T, *results.T)


def fitted() -> Fit:
    return fit(league())


def posterior_of(result: Fit) -> OnlinePosterior:
    found = covariance(result)
    return OnlinePosterior(result.elo, found.matrix, result.outcomes)


def contrast(one: int, other: int) -> Floats:
    vector: Floats = np.eye(PLAYERS)[one] - np.eye(PLAYERS)[other]
    return vector


def inverse(posterior: OnlinePosterior) -> Floats:
    information = np.linalg.inv(posterior.covariance / ELO_PER_NAT**2)
    return information.astype(float, copy=False)


def test_a_fit_s_covariance_is_completed() -> None:
    """What it leaves open is the mean of all, which is as unsure as the prior says."""
    result = fitted()
    posterior = posterior_of(result)
    assert inverse(posterior) == pytest.approx(result.information.dense(), abs=1e-6)
    assert posterior.covariance.mean() == pytest.approx(PRIOR**2 / PLAYERS)
    assert posterior.elo is not result.elo


@given(GAMES)
@settings(max_examples=50)
def test_results_update_as_an_inversion_does(games: Sequence[Game]) -> None:
    """After each, the matrix and the step are those of the information's inverse."""
    posterior = posterior_of(fitted())
    for one, other, points in games:
        difference = float(posterior.elo[one] - posterior.elo[other])
        gradient, curvature = posterior.outcomes.derivatives(difference, points)
        vector = contrast(one, other)
        expected = np.linalg.inv(inverse(posterior) + curvature * np.outer(vector, vector))
        moved = posterior.elo + ELO_PER_NAT * gradient * expected @ vector
        posterior.observe(one, other, points)
        assert posterior.covariance == pytest.approx(ELO_PER_NAT**2 * expected, rel=1e-6)
        assert posterior.elo == pytest.approx(moved, abs=1e-6)


@given(GAMES)
@settings(max_examples=50)
def test_expectations_update_as_an_inversion_does(games: Sequence[Game]) -> None:
    """They change the covariance alone, several at once as one by one, until results replace them."""
    posterior = posterior_of(fitted())
    start, information = posterior.elo.copy(), inverse(posterior)
    played = information.copy()
    for one, other, _ in games:
        posterior.expect(one, other, 3)
        of_a_game = float(posterior.outcomes.information(start[one] - start[other]))
        information += 3 * of_a_game * np.outer(contrast(one, other), contrast(one, other))
    expected = ELO_PER_NAT**2 * np.linalg.inv(information)
    assert posterior.covariance == pytest.approx(expected, rel=1e-6)
    assert (posterior.elo == start).all()
    for one, other, points in [*games] * 3:
        difference = float(posterior.elo[one] - posterior.elo[other])
        _, curvature = posterior.outcomes.derivatives(difference, points)
        played += curvature * np.outer(contrast(one, other), contrast(one, other))
        posterior.observe(one, other, points)
    expected = ELO_PER_NAT**2 * np.linalg.inv(played)
    assert posterior.covariance == pytest.approx(expected, rel=1e-6)


@given(GAMES, st.integers(0, 12))
@settings(max_examples=50)
def test_trace_reductions_are_differences_of_traces(games: Sequence[Game], asked: int) -> None:
    """Whether they are asked for before some games or after all of them."""
    posterior = posterior_of(fitted())
    one, other = np.triu_indices(PLAYERS, 1)
    for number, (first, second, points) in enumerate(games):
        if number == asked:
            posterior.trace_reductions(one, other)
        posterior.observe(first, second, points)
        posterior.expect(second, first)
    reductions = posterior.trace_reductions(one, other)
    for place, (first, second) in enumerate(zip(one.tolist(), other.tolist(), strict=True)):
        further = copy.deepcopy(posterior)
        further.expect(first, second)
        fallen = np.trace(posterior.covariance) - np.trace(further.covariance)
        assert reductions[place] == pytest.approx(fallen, rel=1e-6)


def test_variance_shares_are_what_a_game_takes_away() -> None:
    posterior = posterior_of(fitted())
    pair = np.array([1]), np.array([3])
    share, before = posterior.variance_shares(*pair), posterior.variances(*pair)
    posterior.expect(1, 3)
    assert posterior.variances(*pair) == pytest.approx(before * (1 - share))


def test_variance_reductions_are_those_of_all_differences() -> None:
    """By each of two games."""
    posterior = posterior_of(fitted())
    ahead, behind = np.triu_indices(PLAYERS, 1)
    one, other = np.array([1, 0]), np.array([3, 2])
    reductions = posterior.variance_reductions(ahead, behind, one, other)
    for game in range(2):
        further = copy.deepcopy(posterior)
        further.expect(int(one[game]), int(other[game]))
        fallen = posterior.variances(ahead, behind) - further.variances(ahead, behind)
        assert reductions[:, game] == pytest.approx(fallen, rel=1e-6, abs=1e-9)


def test_games_until_a_variance_bring_it_there() -> None:
    """None where it is as low already."""
    posterior = posterior_of(fitted())
    pair = np.array([1]), np.array([3])
    posterior.expect(1, 3, 40)
    wanted, further = posterior.variances(*pair), posterior_of(fitted())
    assert further.games_until(*pair, wanted) == pytest.approx(40)
    assert posterior.games_until(*pair, 2 * wanted) == 0


def test_newcomers_have_the_prior() -> None:
    """They are as a fit would have them that knows their names and no game of theirs."""
    result = fitted()
    extended = posterior_of(result).extended(2)
    assert extended.elo.tolist() == pytest.approx([*result.elo, 0, 0], abs=1e-9)
    ridge = (ELO_PER_NAT / PRIOR) ** 2
    information = np.diag(np.full(PLAYERS + 2, ridge))
    information[:PLAYERS, :PLAYERS] = result.information.dense()
    assert inverse(extended) == pytest.approx(information, abs=1e-6)


def test_newcomers_come_in_any_order() -> None:
    """One after the other is as both at once, and what was expected still is; the old one stays."""
    start, never_expected = (posterior_of(fitted()) for _ in range(2))
    start.expect(0, 1)
    before = start.covariance
    extended = start.extended(1).extended(1), start.extended(2), never_expected.extended(2)
    for posterior in extended:
        posterior.observe(0, 1, 1.0)
    assert start.size == PLAYERS
    assert (start.covariance == before).all()
    for other in extended[1:]:
        assert extended[0].covariance == pytest.approx(other.covariance, abs=1e-6)


def test_a_posterior_begins_with_nobody() -> None:
    """Then everyone is a newcomer, at the given mean."""
    nobody = OnlinePosterior(np.empty(0), np.empty((0, 0)), OUTCOMES, prior_mean=1500.0)
    posterior = nobody.extended(3)
    assert posterior.elo.tolist() == [1500.0] * 3
    variance = posterior.variances(np.array([0, 1]), np.array([2, 1]))
    assert variance == pytest.approx([2 * PRIOR**2, 0], abs=1e-6)


def test_the_derivatives_are_those_of_the_log_likelihood() -> None:
    """By finite differences, for a win, a draw and a loss."""
    step = 0.01

    def log_likelihood(difference: float, points: float) -> float:
        wins, losses = float(OUTCOMES.wins(difference)), float(OUTCOMES.losses(difference))
        return math.log({1.0: wins, 0.5: 1 - wins - losses, 0.0: losses}[points])

    for points in (1.0, 0.5, 0.0):
        below, here, above = (log_likelihood(120 + side * step, points) for side in (-1, 0, 1))
        gradient, curvature = OUTCOMES.derivatives(120.0, points)
        assert gradient == pytest.approx(ELO_PER_NAT * (above - below) / (2 * step), rel=1e-5)
        found = -(ELO_PER_NAT**2) * (above - 2 * here + below) / step**2
        assert curvature == pytest.approx(found, rel=1e-3)


def test_a_game_gives_no_other_points() -> None:
    with pytest.raises(ValueError, match=r"1, 0.5 or 0 points, not 0.25"):
        posterior_of(fitted()).observe(0, 1, 0.25)

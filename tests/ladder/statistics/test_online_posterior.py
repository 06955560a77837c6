"""What games teach between two fits, against matrices inverted anew."""

import copy
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meijin.ladder.statistics.bradley_terry import ELO_PER_NAT, Fit, Outcomes, fit
from meijin.ladder.statistics.covariance import DenseCovariance, covariance
from meijin.ladder.statistics.online_posterior import Beliefs
from meijin.ladder.statistics.pair_counts import Floats, PairCounts

PLAYERS = 5
OUTCOMES = Outcomes(advantage=60.0, draws=40.0)
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
    first, second = np.nonzero(~np.eye(PLAYERS, dtype=bool))
    results = rng.multinomial(games, (0.5, 0.1, 0.4), len(first)).astype(float)
    return PairCounts(first, second, *results.T)


def fitted() -> Fit:
    """The league's fit."""
    return fit(league())


def beliefs_of(result: Fit) -> Beliefs:
    """What a fit leads to."""
    found = covariance(result)
    assert isinstance(found, DenseCovariance)
    return Beliefs(result.elo, found.matrix, result.outcomes)


def contrast(one: int, other: int, players: int = PLAYERS) -> Floats:
    """The difference of two, as a vector."""
    vector = np.zeros(players)
    vector[[one, other]] = 1, -1
    return vector


def inverse(beliefs: Beliefs) -> Floats:
    """The information in nats."""
    information = np.linalg.inv(beliefs.covariance / ELO_PER_NAT**2)
    return information.astype(float, copy=False)


def test_a_fit_s_covariance_is_completed() -> None:
    """What it leaves open is the mean of all, which is as unsure as the prior says."""
    result = fitted()
    beliefs = beliefs_of(result)
    assert inverse(beliefs) == pytest.approx(result.information.dense(), abs=1e-6)
    assert beliefs.covariance.mean() == pytest.approx(PRIOR**2 / PLAYERS)
    assert beliefs.elo is not result.elo


@given(GAMES)
@settings(deadline=None, max_examples=50)
def test_results_teach_as_an_inversion_does(games: Sequence[Game]) -> None:
    """After each, the matrix and the step are those of the information's inverse."""
    beliefs = beliefs_of(fitted())
    for one, other, points in games:
        difference = float(beliefs.elo[one] - beliefs.elo[other])
        slope, bend = beliefs.outcomes.lesson(difference, points)
        vector = contrast(one, other)
        expected = np.linalg.inv(inverse(beliefs) + bend * np.outer(vector, vector))
        moved = beliefs.elo + ELO_PER_NAT * slope * expected @ vector
        beliefs.observe(one, other, points)
        assert beliefs.covariance == pytest.approx(ELO_PER_NAT**2 * expected, rel=1e-6)
        assert beliefs.elo == pytest.approx(moved, abs=1e-6)


@given(GAMES)
@settings(deadline=None, max_examples=50)
def test_expectations_teach_as_an_inversion_does(games: Sequence[Game]) -> None:
    """They change what is unsure alone, and several at once are as many one by one."""
    beliefs = beliefs_of(fitted())
    start = beliefs.elo.copy()
    information = inverse(beliefs)
    for one, other, _ in games:
        beliefs.expect(one, other, 3)
        told = float(beliefs.outcomes.information(start[one] - start[other]))
        vector = contrast(one, other)
        information += 3 * told * np.outer(vector, vector)
    expected = ELO_PER_NAT**2 * np.linalg.inv(information)
    assert beliefs.covariance == pytest.approx(expected, rel=1e-6)
    assert (beliefs.elo == start).all()


@given(GAMES)
@settings(deadline=None, max_examples=50)
def test_a_result_takes_the_place_of_an_expectation(games: Sequence[Game]) -> None:
    """When all that was expected has been played, nothing but the results is left."""
    beliefs = beliefs_of(fitted())
    information = inverse(beliefs)
    for one, other, _ in games:
        beliefs.expect(other, one)
    for one, other, points in games:
        _, bend = beliefs.outcomes.lesson(float(beliefs.elo[one] - beliefs.elo[other]), points)
        vector = contrast(one, other)
        information += bend * np.outer(vector, vector)
        beliefs.observe(one, other, points)
    expected = ELO_PER_NAT**2 * np.linalg.inv(information)
    assert beliefs.covariance == pytest.approx(expected, rel=1e-6)


@given(GAMES, st.integers(0, 12))
@settings(deadline=None, max_examples=50)
def test_the_drops_are_those_of_the_trace(games: Sequence[Game], asked: int) -> None:
    """Whether they are asked for before some games or after all of them."""
    beliefs = beliefs_of(fitted())
    one, other = np.triu_indices(PLAYERS, 1)
    for number, (first, second, points) in enumerate(games):
        if number == asked:
            beliefs.drops(one, other)
        beliefs.observe(first, second, points)
        beliefs.expect(second, first)
    drops = beliefs.drops(one, other)
    for place, (first, second) in enumerate(zip(one.tolist(), other.tolist(), strict=True)):
        further = copy.deepcopy(beliefs)
        further.expect(first, second)
        fallen = np.trace(beliefs.covariance) - np.trace(further.covariance)
        assert drops[place] == pytest.approx(fallen, rel=1e-6)


def test_shares_are_what_a_game_takes_away() -> None:
    """Of the variance of the two's difference."""
    beliefs = beliefs_of(fitted())
    pair = np.array([1]), np.array([3])
    share, before = beliefs.shares(*pair), beliefs.variances(*pair)
    beliefs.expect(1, 3)
    assert beliefs.variances(*pair) == pytest.approx(before * (1 - share))


def test_a_preview_is_near_the_next_fit() -> None:
    """Twenty wins of one player, taken in one by one, lead to within an Elo of a fit of all."""
    before = fit(league(40))
    beliefs = beliefs_of(before)
    games = [(0, loser) for loser in range(1, PLAYERS)] * 5
    for winner, loser in games:
        beliefs.observe(winner, loser, 1.0)
    won, none = np.ones(20), np.zeros(20)
    first, second = np.array(games).T
    more = PairCounts(first, second, won, none, none)
    after = fit(league(40).joined(more))
    assert np.abs(after.elo - before.elo).max() > 10
    assert beliefs.elo == pytest.approx(after.elo, abs=1)


def test_newcomers_have_the_prior() -> None:
    """They are as a fit would have them that knows their names and no game of theirs."""
    result = fitted()
    grown = beliefs_of(result).grown(2)
    assert grown.elo.tolist() == pytest.approx([*result.elo, 0, 0], abs=1e-9)
    ridge = (ELO_PER_NAT / PRIOR) ** 2
    information = np.diag(np.full(PLAYERS + 2, ridge))
    information[:PLAYERS, :PLAYERS] = result.information.dense()
    assert inverse(grown) == pytest.approx(information, abs=1e-6)


def test_newcomers_come_in_any_order() -> None:
    """One after the other is as both at once, and what was expected still is."""
    one_by_one, at_once, never_expected = (beliefs_of(fitted()) for _ in range(3))
    for beliefs in (one_by_one, at_once):
        beliefs.expect(0, 1)
    one_by_one, at_once = one_by_one.grown(1).grown(1), at_once.grown(2)
    never_expected = never_expected.grown(2)
    for beliefs in (one_by_one, at_once, never_expected):
        beliefs.observe(0, 1, 1.0)
    assert one_by_one.covariance == pytest.approx(at_once.covariance, abs=1e-6)
    assert one_by_one.covariance == pytest.approx(never_expected.covariance, abs=1e-6)


def test_growing_leaves_the_old_as_they_were() -> None:
    """The grown ones learn by themselves."""
    beliefs = beliefs_of(fitted())
    before = beliefs.covariance
    grown = beliefs.grown(1)
    grown.observe(5, 0, 1)
    assert beliefs.size == PLAYERS
    assert (beliefs.covariance == before).all()
    assert grown.elo[5] > 0 > grown.elo[0] - beliefs.elo[0]


def test_beliefs_begin_with_nobody() -> None:
    """Then everyone is a newcomer, at the given mean."""
    nobody = Beliefs(np.empty(0), np.empty((0, 0)), OUTCOMES, prior_mean=1500.0)
    beliefs = nobody.grown(3)
    assert beliefs.elo.tolist() == [1500.0] * 3
    variance = beliefs.variances(np.array([0, 1]), np.array([2, 1]))
    assert variance == pytest.approx([2 * PRIOR**2, 0], abs=1e-6)


def test_the_lesson_is_the_log_likelihood_s_slope() -> None:
    """By finite differences, for a win, a draw and a loss."""
    step = 0.01

    def log_likelihood(difference: float, points: float) -> float:
        wins, losses = float(OUTCOMES.wins(difference)), float(OUTCOMES.losses(difference))
        return math.log({1.0: wins, 0.5: 1 - wins - losses, 0.0: losses}[points])

    for points in (1.0, 0.5, 0.0):
        below, here, above = (log_likelihood(120 + side * step, points) for side in (-1, 0, 1))
        slope, bend = OUTCOMES.lesson(120.0, points)
        assert slope == pytest.approx(ELO_PER_NAT * (above - below) / (2 * step), rel=1e-5)
        found = -(ELO_PER_NAT**2) * (above - 2 * here + below) / step**2
        assert bend == pytest.approx(found, rel=1e-3)


def test_a_game_gives_no_other_points() -> None:
    """The message names them."""
    with pytest.raises(ValueError, match=r"1, 0.5 or 0 points, not 0.25"):
        beliefs_of(fitted()).observe(0, 1, 0.25)

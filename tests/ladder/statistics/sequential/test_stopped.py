"""Estimates after a test has stopped: symmetry, order, closed forms, and games played by force."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import astuple

import numpy as np
import pytest

from meijin.ladder.statistics.sequential import stopped
from meijin.ladder.statistics.sequential.sprt import NORMALISED_ELO, Decision, Estimate, Scale, Sprt
from meijin.ladder.statistics.sequential.stopped import Tilts, estimate_of

NARROW, WIDE = Sprt(0, 50), Sprt(0, 200)
FEW_PAIRS = [0, 0, 1, 4, 7]
MANY_PAIRS = [10, 5, 50, 9, 32]


def test_an_undecided_test_has_the_plain_estimate() -> None:
    """Its interval is that of a match of a fixed length."""
    counts = [2, 2, 6, 2, 4]
    assert estimate_of(NARROW, counts) == Estimate.of(counts)


@pytest.mark.parametrize(("test", "counts"), [(WIDE, FEW_PAIRS), (NARROW, MANY_PAIRS)])
def test_a_decided_test_has_an_estimate_nearer_to_the_middle(
    test: Sprt, counts: Sequence[int]
) -> None:
    """The plain one lies too far out; the interval is around the estimate."""
    plain, found = Estimate.of(counts), estimate_of(test, counts)
    assert found.is_sequential
    assert not plain.is_sequential
    assert 0 < found.normalised_elo < plain.normalised_elo
    assert found.normalised_low < found.normalised_elo < found.normalised_high
    assert found.elo_low < found.elo < found.elo_high
    assert found.elo < plain.elo
    assert found.los < plain.los


@pytest.mark.parametrize(
    ("test", "counts"),
    [
        (WIDE, FEW_PAIRS),
        (NARROW, MANY_PAIRS),
        (Sprt(0, 60, scale=Scale.LOGISTIC), [30, 20, 70]),
        (Sprt(-100, 250, scale=Scale.LOGISTIC), [1, 2, 14]),
    ],
)
def test_the_other_player_has_the_same_estimate(test: Sprt, counts: list[int]) -> None:
    found = estimate_of(test, counts)
    turned = estimate_of(Sprt(-test.elo1, -test.elo0, scale=test.scale), counts[::-1])
    assert found.is_sequential
    assert -turned.normalised_elo == found.normalised_elo
    assert (-turned.normalised_high, -turned.normalised_low) == (
        found.normalised_low,
        found.normalised_high,
    )
    assert (-turned.elo, -turned.elo_high, -turned.elo_low) == (
        found.elo,
        found.elo_low,
        found.elo_high,
    )
    assert 1 - turned.los == found.los


def test_a_later_stop_is_a_smaller_advantage() -> None:
    """At the upper bound, by few results and by many."""
    found = []
    for scale in (2, 4, 6, 8, 12, 16):
        counts = [scale, scale, 4 * scale, scale, scale]
        while NARROW.decide(NARROW.llr(counts)) is not Decision.H1_ACCEPTED:
            counts[4] += 1
        found.append(estimate_of(NARROW, counts).normalised_elo)
    assert all(early > late for early, late in itertools.pairwise(found))


def test_the_interval_of_many_is_that_of_a_brownian_motion() -> None:
    """Of a ratio with increments of its own drift and variance, and bounds that are corrected.

    With hypotheses t and -t the ratio is 2 t times the sum of standard scores, so that the chance
    at no advantage is that of Wald's symmetric test, which both bounds share.
    """
    test, counts = Sprt(-10, 10), [100, 100, 1700, 100, 100]
    while test.decide(test.llr(counts)) is Decision.UNDECIDED:
        counts[4] += 1
    found = estimate_of(test, counts)
    assert 0.55 < found.los < 0.95
    step = 20 / NORMALISED_ELO * math.sqrt(2)
    bound = test.upper + stopped.OVERSHOOT * step
    count, odd = sum(counts), np.arange(1, 400, 2)
    terms = np.exp(-((odd * math.pi * step / (2 * bound)) ** 2) * count / 2) / odd
    between = 4 / math.pi * float((terms * np.sin(odd * math.pi / 2)).sum())
    assert 1 - found.los == pytest.approx((1 - between) / 2, rel=0.05)


def test_equal_counts_have_equal_estimates() -> None:
    """To the last bit, with nothing kept from before."""
    before = astuple(estimate_of(WIDE, FEW_PAIRS))
    stopped._stopped_estimate.cache_clear()
    assert astuple(estimate_of(WIDE, FEW_PAIRS)) == before


@pytest.mark.long
def test_the_chance_of_few_is_that_of_games_played_by_force() -> None:
    """At both ends 2.5 % of tests played there end as far out; by other luck and plain loops."""
    counts = [0, 1, 3, 2, 6]
    assert WIDE.decide(WIDE.llr(counts)) is Decision.H1_ACCEPTED
    family, found = Tilts.of(counts), estimate_of(WIDE, counts)
    slope = next(
        slope
        for slope in np.linspace(-6, 2, 2001)
        if family.normalised_elo(float(slope)) >= found.normalised_low
    )
    rng, extreme, runs = np.random.default_rng(5), 0, 600
    shares, mean = family.tilted(float(slope)), float(np.dot(counts, np.arange(5))) / sum(counts)
    ratio: dict[tuple[int, ...], float] = {}
    for _ in range(runs):
        seen = [0] * 5
        for result in rng.choice(5, size=sum(counts) + 6, p=shares).tolist():
            seen[result] += 1
            key = tuple(seen)
            if key not in ratio:
                ratio[key] = WIDE.llr(seen)
            if (decision := WIDE.decide(ratio[key])) is not Decision.UNDECIDED:
                is_far = float(np.dot(seen, np.arange(5))) / sum(seen) >= mean
                extreme += decision is Decision.H1_ACCEPTED and is_far
                break
    assert extreme / runs == pytest.approx(0.025, abs=0.02)


def test_a_tilt_has_the_mean_that_is_asked_for() -> None:
    """And its moment generating function is that of its definition."""
    family = Tilts.of([3, 1, 8, 2, 5])
    assert family.mean(family.slope_of_mean(0.7)) == pytest.approx(0.7, abs=1e-9)
    direct = math.log(sum(family.shares * np.exp(1.5 * family.scores)))
    assert family.log_moment(1.5) == pytest.approx(direct, abs=1e-12)

"""What results are worth whose openings come again: closed forms, and made-up results."""

import itertools
import math

import numpy as np
import pytest

from meijin.ladder.statistics.sequential.units import UnitTally

WIN, DRAW, LOSS = 2, 1, 0


def tally_of(pairs: list[tuple[int, int, int]]) -> UnitTally:
    """Of openings with the half points of a pair's two games."""
    tally = UnitTally()
    for opening, *halves in pairs:
        tally.add(opening, halves)
    return tally


def results(openings: int, deals: int, alike: float) -> list[tuple[int, int, int]]:
    """Pairs whose games end as the first ones of their opening with a chance, else by lot."""
    rng = np.random.default_rng(7)
    first = rng.integers(0, 3, (openings, 2))
    drawn = rng.integers(0, 3, (deals, openings, 2))
    ends = np.where(rng.random(drawn.shape) < alike, first, drawn)
    return [
        (opening, int(ends[deal, opening, 0]), int(ends[deal, opening, 1]))
        for deal, opening in itertools.product(range(deals), range(openings))
    ]


def test_an_opening_of_its_own_is_a_unit() -> None:
    """Its pairs count as they are, and a game without its second one among the games alone."""
    tally = tally_of([(1, WIN, DRAW), (2, LOSS, LOSS), (3, DRAW, DRAW)])
    tally.add(4, [WIN])
    evidence = tally.evidence()
    assert evidence.pairs == (1, 0, 1, 1, 0)
    assert evidence.games == (2, 3, 2)
    assert (evidence.openings, evidence.units, tally.correlation) == (3, 3, 0)


def test_chance_is_no_correlation() -> None:
    """Of forty openings dealt twenty times by lot nearly every pair counts."""
    tally = tally_of(results(40, 20, 0.0))
    assert tally.evidence().units > 0.95 * 800
    assert tally.last_gain(0) > 0.9


@pytest.mark.parametrize("alike", [0.5, 0.9, 1.0])
def test_the_correlation_is_found(alike: float) -> None:
    """Two pairs that end as the first each with a chance do both with its square."""
    tally = tally_of(results(400, 10, alike))
    assert tally.correlation == pytest.approx(alike**2, abs=0.05)


def test_equal_pairs_of_an_opening_are_one_unit() -> None:
    """However often each was dealt: with a correlation of 1 all have the same weight."""
    ends = [(WIN, WIN), (LOSS, LOSS), (LOSS, DRAW), (WIN, LOSS)] * 30
    tally = tally_of(
        [(opening, *pair) for opening, pair in enumerate(ends) for _ in range(4 + opening % 2)]
    )
    assert tally.correlation == pytest.approx(1, abs=0.05)
    assert tally.evidence().pairs == pytest.approx((30, 30, 30, 0, 30), rel=0.15)
    assert tally.last_gain(1) < 0.01


def test_units_are_those_of_the_design_effect() -> None:
    """M / (1 + (m - 1) r) of each opening, as is what the last one of them has added."""
    pairs = results(30, 7, 0.7)
    tally, before = tally_of(pairs), tally_of(pairs[:-1])
    r = tally.correlation
    assert 0.2 < r < 0.8
    assert tally.evidence().units == pytest.approx(30 * 7 / (1 + 6 * r))
    gain = 7 / (1 + 6 * r) - 6 / (1 + 5 * r)
    assert tally.last_gain(pairs[-1][0]) == pytest.approx(gain)
    assert before.evidence().openings == 30


def test_the_estimate_is_the_mean_product() -> None:
    """By force over all two pairs of one opening, where the prior does not matter."""
    pairs = results(25, 8, 0.9)
    scores = np.array([one + other for _, one, other in pairs]).reshape(8, 25)
    deviations = (scores - scores.mean()) / scores.std()
    products = [
        deviations[one] @ deviations[other] / 25
        for one, other in itertools.combinations(range(8), 2)
    ]
    expected = float(np.mean(products)) + 1 / scores.size
    assert tally_of(pairs).correlation == pytest.approx(expected, abs=1e-9)


def test_the_order_of_results_does_not_matter() -> None:
    pairs = results(12, 9, 0.5)
    forward, backward = tally_of(pairs).evidence(), tally_of(pairs[::-1]).evidence()
    assert forward == backward


def test_results_that_are_all_the_same_have_no_correlation() -> None:
    tally = tally_of([(1, WIN, LOSS)] * 30)
    assert tally.correlation == 0
    assert tally.evidence().units == 30
    assert not math.isnan(tally.last_gain(1))

"""When an order is sure enough."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.ladder.statistics.fit.covariance import Covariance
from meijin.ladder.statistics.pairing.stopping_rule import (
    START_VARIANCE,
    OrderConfidence,
    StoppingRule,
    error_bounds,
)


def bound(lead: float, deviation: float, zone: float = 0.0) -> float:
    return float(error_bounds(np.array([lead]), np.array([deviation**2]), zone)[0])


def tail(z: float) -> float:
    return math.erfc(z / math.sqrt(2)) / 2


def judged(
    elo: list[float], deviation: float, *, zone: float = 0.0, top: int = 0
) -> OrderConfidence:
    """Of a ranking whose errors are independent, each with such a deviation."""
    covariance = Covariance(np.eye(len(elo)) * deviation**2)
    found = StoppingRule(0.95, zone, top).judge(np.array(elo), covariance)
    assert found is not None
    return found


def test_before_a_game_one_look_is_all_there_was() -> None:
    """The bound is the normal tail."""
    start = math.sqrt(START_VARIANCE)
    assert bound(1000.0, start) == pytest.approx(tail(1000 / start))
    assert bound(0.0, start) == 0.5


def test_looks_are_accounted_for_by_the_information_that_has_come_in() -> None:
    """In e times of it the lead is somewhere as high with z / 2 phi(z) more."""
    start = math.sqrt(START_VARIANCE)
    deviation = start / math.e
    density = math.exp(-4.5) / math.sqrt(2 * math.pi)
    assert bound(3 * deviation, deviation) == pytest.approx(tail(3.0) + 3 * density)


def test_the_bound_is_what_a_process_does() -> None:
    """Of 20,000 leads without a difference, looked at while information grows 1,000 times."""
    rng = np.random.default_rng(12)
    looks, paths, level = 400, 20_000, 3.0
    information = np.geomspace(1, 1000, looks)
    steps = np.sqrt(np.diff(information, prepend=0.0))
    walk, ever = np.zeros(paths), np.zeros(paths, dtype=bool)
    for step, total in zip(steps, information, strict=True):
        walk += step * rng.standard_normal(paths)
        ever |= walk / math.sqrt(total) >= level
    deviation = math.sqrt(START_VARIANCE / 1000)
    assert 0.6 < ever.mean() / bound(level * deviation, deviation) < 1.0
    assert ever.mean() > 10 * tail(level)


@given(
    lead=st.floats(0, 2000),
    deviation=st.floats(0.1, 800),
    zone=st.floats(0, 50),
    more=st.floats(1, 9),
)
def test_a_bound_is_a_chance(lead: float, deviation: float, zone: float, more: float) -> None:
    """It is never below that of one look, and a wide lead's falls with each further Elo."""
    found = bound(lead, deviation, zone)
    assert min(tail((lead + zone) / deviation), 1.0) <= found <= 1
    if lead > 2 * deviation:
        assert bound(lead + more, deviation, zone) <= found
        assert bound(lead, deviation, zone + more) <= found


def test_whole_orders_without_a_zone_are_those_of_neighbours() -> None:
    """Then everyone is in order, and further bounds would count the same doubt twice."""
    found = judged([0.0, 100.0, 300.0], 20.0)
    near, far = (bound(lead, 20 * math.sqrt(2)) for lead in (100.0, 200.0))
    assert found.confidence == pytest.approx(1 - near - far)
    assert (found.ahead, found.behind) == (1, 0)
    assert found.lead == 100
    assert found.deviation == pytest.approx(20 * math.sqrt(2))


def test_with_a_zone_every_pair_counts() -> None:
    """Small differences may add up to a large one; a confidence is never below 0."""
    found = judged([0.0, 5.0, 10.0], 2.0, zone=10)
    bounds = [bound(lead, 2 * math.sqrt(2), 10) for lead in (5.0, 5.0, 10.0)]
    assert found.confidence == pytest.approx(1 - sum(bounds))
    assert judged([0.0] * 10, 100.0, zone=1.0).confidence == 0


def test_of_the_top_only_the_border_counts() -> None:
    """Two equal leaders do no harm, nor do those behind."""
    elo = [500.0, 0.0, 500.0, 100.0, 100.0]
    found = judged(elo, 20.0, top=2)
    wide, wider = (bound(lead, 20 * math.sqrt(2)) for lead in (400.0, 500.0))
    assert found.confidence == pytest.approx(1 - 4 * wide - 2 * wider)
    assert judged(elo, 20.0) != found


def test_equals_are_settled_by_a_zone_alone() -> None:
    """As soon as a larger difference is out of the question."""
    rule, bare = StoppingRule(0.95, 10.0), StoppingRule(0.95)
    equal = np.zeros(2)
    for deviation, is_met in ((4.0, False), (2.0, True)):
        covariance = Covariance(np.eye(2) * deviation**2 / 2)
        assert rule.is_met(rule.judge(equal, covariance)) is is_met
        assert not bare.is_met(bare.judge(equal, covariance))


@pytest.mark.parametrize(("players", "top"), [(0, 0), (1, 0), (3, 3), (2, 5)])
def test_where_nothing_is_told_apart_nothing_is_sure(players: int, top: int) -> None:
    """A ladder of one bot goes on until others come."""
    rule = StoppingRule(0.5, top=top)
    assert rule.judge(np.zeros(players), Covariance(np.eye(players))) is None
    assert not rule.is_met(None)


@given(lead=st.floats(1, 1000), zone=st.floats(0, 50), pairs=st.integers(1, 1000))
def test_at_the_wanted_variance_a_lead_is_sure(lead: float, zone: float, pairs: int) -> None:
    """Its bound is its share of the risk, but for the little that the first look takes."""
    wanted = StoppingRule(0.95, zone).wanted_variance(np.array([lead]), pairs)
    assert 0.9 < bound(lead, float(wanted[0]) ** 0.5, zone) * pairs / 0.05 < 1.25

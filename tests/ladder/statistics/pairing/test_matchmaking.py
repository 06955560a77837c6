"""Who should meet next."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ladder.statistics.made_games import OUTCOMES

from meijin.ladder.statistics.fit.covariance import Covariance
from meijin.ladder.statistics.fit.pair_counts import Integers, Mask
from meijin.ladder.statistics.pairing import matchmaking
from meijin.ladder.statistics.pairing.matchmaking import (
    START_VARIANCE,
    Criterion,
    Matchmaker,
    OrderConfidence,
    Pick,
    StoppingRule,
    error_bounds,
)
from meijin.ladder.statistics.pairing.online_posterior import OnlinePosterior


def everybody(players: int) -> Mask:
    return ~np.eye(players, dtype=bool)


def matchmaker(
    elo: list[float],
    variances: float | list[float],
    components: list[int] | None = None,
    picks: int = 0,
    rule: StoppingRule | None = None,
) -> Matchmaker:
    """With errors that are independent, and alike where one variance is given."""
    covariance = np.diag(np.broadcast_to(variances, len(elo)))
    posterior = OnlinePosterior(np.array(elo), covariance, OUTCOMES)
    labels: Integers = np.array(components or [0] * len(elo))
    return Matchmaker(posterior, labels, picks=picks, rule=rule)


def next_pick(maker: Matchmaker, may_meet: Mask | None = None) -> Pick:
    """Of somebody, who may meet everybody unless said otherwise."""
    pick = maker.pick(everybody(maker.posterior.size) if may_meet is None else may_meet)
    assert pick is not None
    return pick


def couple(pick: Pick) -> set[int]:
    return {pick.one, pick.other}


LINK, VARIANCE, ORDER = Criterion.LINK, Criterion.VARIANCE, Criterion.ORDER


def test_components_are_linked_first() -> None:
    """Three components need two picks, however much else is unsure; then the turns begin."""
    labels = np.array([0, 0, 2, 2, 4])
    maker = matchmaker([0.0, 9.0, 50.0, 55.0, 300.0], 1e4, labels.tolist())
    for _ in range(2):
        pick = next_pick(maker)
        assert pick.criterion is LINK
        assert labels[pick.one] != labels[pick.other]
        labels[labels == labels[pick.one]] = labels[pick.other]
    assert len(set(labels.tolist())) == 1
    criteria = [next_pick(maker).criterion for _ in range(4)]
    assert criteria == [VARIANCE, ORDER, VARIANCE, ORDER]


def test_components_wait_for_their_own() -> None:
    """When none of one may meet any of another, or a running game links them, the rest goes on."""
    may_meet = everybody(4)
    may_meet[:2, 2:] = may_meet[2:, :2] = False
    apart, linked = (matchmaker([0.0] * 4, 1e4, [0, 0, 2, 2]) for _ in range(2))
    linked.expect(3, 1, games=1)
    assert next_pick(apart, may_meet).criterion is VARIANCE
    assert next_pick(linked).criterion is VARIANCE


@pytest.mark.parametrize(("picks", "criterion"), [(0, VARIANCE), (1, ORDER), (8, VARIANCE)])
def test_turns_go_on(picks: int, criterion: Criterion) -> None:
    """A new matchmaker goes on where the one before stood."""
    assert next_pick(matchmaker([0.0] * 3, 1e4, picks=picks)).criterion is criterion


def test_the_most_doubtful_order_is_played_out() -> None:
    """Not that of two far apart, nor of two whose order is known."""
    pick = next_pick(matchmaker([0.0, 200.0, 210.0, 400.0], 1600.0, picks=1))
    assert couple(pick) == {1, 2}
    assert pick.difference == pytest.approx(10)
    assert pick.deviation == pytest.approx(np.sqrt(3200))
    assert pick.reason == "who of the two is stronger is most in doubt (+10 Elo, error 57)"


def test_the_least_known_meets_its_equal() -> None:
    """That teaches most of all ratings together."""
    maker = matchmaker([0.0, 205.0, 200.0, 400.0], [100.0, 100.0, 1e5, 100.0])
    assert couple(next_pick(maker)) == {1, 2}


def test_picks_spread() -> None:
    """A pick counts as played, so that the next are of others; two games, one with each colour."""
    maker, untouched = (matchmaker([0.0] * 8, 1e5) for _ in range(2))
    pick = next_pick(maker)
    untouched.posterior.expect(pick.one, pick.other, 2)
    assert (maker.posterior.covariance == untouched.posterior.covariance).all()
    couples = [frozenset(couple(each)) for each in (pick, *(next_pick(maker) for _ in range(7)))]
    assert len(set(couples)) == 8
    assert set().union(*couples[:4]) == set(range(8))


@given(
    st.integers(2, 12).flatmap(
        lambda n: st.tuples(
            st.lists(st.floats(-500, 500), min_size=n, max_size=n),
            st.lists(st.integers(0, n - 1), min_size=n, max_size=n),
            st.lists(st.booleans(), min_size=n * n, max_size=n * n),
        )
    ),
    st.integers(0, 1),
    st.sampled_from([1, 32]),
)
def test_only_those_who_may_meet_do(
    pool: tuple[list[float], list[int], list[bool]], picks: int, neighbours: int
) -> None:
    """Somebody does whenever two may, and nobody else."""
    elo, components, allowed = pool
    n = len(elo)
    may_meet = np.triu(np.array(allowed).reshape(n, n), 1)
    may_meet |= may_meet.T
    maker = matchmaker(elo, 1e4, components, picks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matchmaking, "NEIGHBOURS", neighbours)
        for _ in range(4):
            pick = maker.pick(may_meet)
            assert (pick is not None) == may_meet.any()
            assert pick is None or may_meet[pick.one, pick.other]


def test_newcomers_are_linked() -> None:
    """Each by a game, with somebody who is near what is thought of it."""
    known = matchmaker([-300.0, 0.0, 300.0], 400.0).posterior
    maker = Matchmaker(known.extended(2), np.array([0, 0, 0, 3, 4]))
    linked = [next_pick(maker) for _ in range(2)]
    assert [pick.criterion for pick in linked] == [LINK, LINK]
    assert set().union(*map(couple, linked)) == {1, 3, 4}
    assert next_pick(maker).criterion is not LINK


# -- stopping rules -----------------------------------------------------------------


def test_a_rule_takes_three_turns_of_four() -> None:
    maker = matchmaker([0.0, 20.0, 40.0], 2500.0, picks=1, rule=StoppingRule(0.95, 10.0))
    criteria = [next_pick(maker).criterion for _ in range(5)]
    assert criteria == [ORDER, ORDER, ORDER, VARIANCE, ORDER]


@pytest.mark.parametrize(
    ("elo", "variances", "rule", "wanted"),
    [
        ([300.0, 299.0, 250.0, 60.0, 59.0], 1600.0, StoppingRule(0.95), {0, 1}),
        # The two nearest of all are not asked for, those on either side of the border are.
        ([300.0, 299.0, 250.0, 60.0, 59.0], 1600.0, StoppingRule(0.95, top=2), {1, 2}),
        ([400.0, 400.0, 85.0, 0.0], [9.0, 9.0, 400.0, 400.0], StoppingRule(0.95), {0, 1}),
        # Two equals known to 4 Elo need no game where 10 do not matter.
        ([400.0, 400.0, 85.0, 0.0], [9.0, 9.0, 400.0, 400.0], StoppingRule(0.95, 10.0), {2, 3}),
    ],
)
def test_what_the_rule_asks_for_is_played(
    elo: list[float], variances: float | list[float], rule: StoppingRule, wanted: set[int]
) -> None:
    assert couple(next_pick(matchmaker(elo, variances, picks=1, rule=rule))) == wanted


def test_who_is_free_and_not_asked_for_plays_for_the_ratings() -> None:
    rule = StoppingRule(0.95, top=2)
    maker = matchmaker([300.0, 200.0, 100.0, 0.0], 1600.0, picks=1, rule=rule)
    may_meet = np.zeros((4, 4), dtype=bool)
    may_meet[2, 3] = may_meet[3, 2] = True
    assert next_pick(maker, may_meet).criterion is VARIANCE


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

"""Who should meet next."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ladder.statistics.made_games import OUTCOMES

from meijin.ladder.statistics.fit.pair_counts import Integers, Mask
from meijin.ladder.statistics.pairing import matchmaking
from meijin.ladder.statistics.pairing.matchmaking import Criterion, Matchmaker, Pick
from meijin.ladder.statistics.pairing.online_posterior import OnlinePosterior
from meijin.ladder.statistics.pairing.stopping_rule import StoppingRule


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
    assert pick.reason == "the order becomes surest (+10 Elo, error 57)"


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


def test_a_rule_takes_nearly_all_turns() -> None:
    maker = matchmaker([0.0, 20.0, 40.0], 2500.0, picks=14, rule=StoppingRule(0.95, 10.0))
    criteria = [next_pick(maker).criterion for _ in range(4)]
    assert criteria == [ORDER, ORDER, VARIANCE, ORDER]


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


def test_who_is_free_and_not_asked_for_informs_of_the_others() -> None:
    """A game of the two behind the border tells where they stand against those before it."""
    rule = StoppingRule(0.95, top=2)
    maker = matchmaker([300.0, 200.0, 100.0, 0.0], 1600.0, picks=1, rule=rule)
    may_meet = np.zeros((4, 4), dtype=bool)
    may_meet[2, 3] = may_meet[3, 2] = True
    assert next_pick(maker, may_meet).criterion is ORDER


def test_orders_of_which_a_game_tells_much_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many that are as doubtful, those that are expected to be played already wait."""
    monkeypatch.setattr(matchmaking, "DOUBTS", 1)
    maker = matchmaker([0.0] * 6, 1e4, picks=1, rule=StoppingRule(0.95))
    assert len({frozenset(couple(next_pick(maker))) for _ in range(5)}) == 5


def test_where_nothing_is_asked_for_ratings_are_played_for() -> None:
    """As of the first three of three."""
    maker = matchmaker([300.0, 200.0, 100.0], 1600.0, picks=1, rule=StoppingRule(0.95, top=3))
    assert next_pick(maker).criterion is VARIANCE

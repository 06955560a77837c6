"""Who should meet next."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.ladder.statistics.fit.bradley_terry import Outcomes
from meijin.ladder.statistics.fit.pair_counts import Integers, Mask
from meijin.ladder.statistics.pairing import matchmaking
from meijin.ladder.statistics.pairing.matchmaking import Criterion, Matchmaker, Pick
from meijin.ladder.statistics.pairing.online_posterior import OnlinePosterior
from meijin.ladder.statistics.pairing.stopping import StoppingRule

OUTCOMES = Outcomes(advantage=60.0, draws=40.0)


def everybody(players: int) -> Mask:
    """All may meet."""
    return ~np.eye(players, dtype=bool)


def matchmaker(
    elo: list[float], variances: list[float], components: list[int] | None = None, picks: int = 0
) -> Matchmaker:
    """With errors that are independent."""
    posterior = OnlinePosterior(np.array(elo), np.diag(np.array(variances)), OUTCOMES)
    labels: Integers = np.array(components or [0] * len(elo))
    return Matchmaker(posterior, labels, picks=picks)


def couple(pick: Pick | None) -> set[int]:
    """The two, in no order."""
    assert pick is not None
    return {pick.one, pick.other}


def test_components_are_linked_first() -> None:
    """Three components need two picks, however much else is unsure; then the turns begin."""
    maker = matchmaker([0.0, 9.0, 50.0, 55.0, 300.0], [1e4] * 5, components=[0, 0, 2, 2, 4])
    labels = np.array([0, 0, 2, 2, 4])
    for _ in range(2):
        pick = maker.pick(everybody(5))
        assert pick is not None
        assert pick.criterion is Criterion.LINK
        assert labels[pick.one] != labels[pick.other]
        labels[labels == labels[pick.one]] = labels[pick.other]
    assert len(set(labels.tolist())) == 1
    criteria = [pick.criterion for _ in range(4) if (pick := maker.pick(everybody(5)))]
    assert criteria == [Criterion.VARIANCE, Criterion.ORDER, Criterion.VARIANCE, Criterion.ORDER]


def test_components_wait_for_their_own() -> None:
    """When none of one may meet any of another, the rest goes on."""
    may_meet = everybody(4)
    may_meet[:2, 2:] = may_meet[2:, :2] = False
    pick = matchmaker([0.0] * 4, [1e4] * 4, components=[0, 0, 2, 2]).pick(may_meet)
    assert pick is not None
    assert pick.criterion is Criterion.VARIANCE


def test_running_games_link_components() -> None:
    """A matchmaker that is told of one needs no other."""
    maker = matchmaker([0.0] * 4, [1e4] * 4, components=[0, 0, 2, 2])
    maker.expect(3, 1, games=1)
    pick = maker.pick(everybody(4))
    assert pick is not None
    assert pick.criterion is Criterion.VARIANCE


@pytest.mark.parametrize(
    ("picks", "criterion"), [(0, Criterion.VARIANCE), (1, Criterion.ORDER), (8, Criterion.VARIANCE)]
)
def test_turns_go_on(picks: int, criterion: Criterion) -> None:
    """A new matchmaker goes on where the one before stood."""
    pick = matchmaker([0.0] * 3, [1e4] * 3, picks=picks).pick(everybody(3))
    assert pick is not None
    assert pick.criterion is criterion


def test_the_most_doubtful_order_is_played_out() -> None:
    """Not that of two far apart, nor of two whose order is known."""
    maker = matchmaker([0.0, 200.0, 210.0, 400.0], [1600.0] * 4, picks=1)
    pick = maker.pick(everybody(4))
    assert couple(pick) == {1, 2}
    assert pick is not None
    assert pick.difference == pytest.approx(10)
    assert pick.deviation == pytest.approx(np.sqrt(3200))
    assert pick.reason == "who of the two is stronger is most in doubt (+10 Elo, error 57)"


def test_the_least_known_meets_its_equal() -> None:
    """That teaches most of all ratings together."""
    maker = matchmaker([0.0, 205.0, 200.0, 400.0], [100.0, 100.0, 1e5, 100.0])
    assert couple(maker.pick(everybody(4))) == {1, 2}


def test_picks_spread() -> None:
    """A pick counts as played, so that the next are of others."""
    maker = matchmaker([0.0] * 8, [1e5] * 8)
    couples = [frozenset(couple(maker.pick(everybody(8)))) for _ in range(8)]
    assert len(set(couples)) == 8
    assert set().union(*couples[:4]) == set(range(8))


def test_a_pick_expects_its_games() -> None:
    """Two of them unless said otherwise: one with each colour."""
    maker = matchmaker([0.0] * 3, [1e4] * 3)
    pick = maker.pick(everybody(3))
    assert pick is not None
    expected = matchmaker([0.0] * 3, [1e4] * 3).posterior
    expected.expect(pick.one, pick.other, 2)
    assert (maker.posterior.covariance == expected.covariance).all()


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
    maker = matchmaker(elo, [1e4] * n, components, picks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matchmaking, "NEIGHBOURS", neighbours)
        for _ in range(4):
            pick = maker.pick(may_meet)
            assert (pick is not None) == may_meet.any()
            assert pick is None or may_meet[pick.one, pick.other]


def test_newcomers_are_linked() -> None:
    """Each by a game, with somebody who is near what is thought of it."""
    known = matchmaker([-300.0, 0.0, 300.0], [400.0] * 3).posterior
    maker = Matchmaker(known.extended(2), np.array([0, 0, 0, 3, 4]))
    linked = [maker.pick(everybody(5)) for _ in range(2)]
    assert all(pick is not None and pick.criterion is Criterion.LINK for pick in linked)
    assert set().union(*map(couple, linked)) == {1, 3, 4}
    pick = maker.pick(everybody(5))
    assert pick is not None
    assert pick.criterion is not Criterion.LINK


def with_rule(elo: list[float], deviation: float, rule: StoppingRule) -> Matchmaker:
    """Whose next pick but one is of what the rule asks for."""
    n = len(elo)
    posterior = OnlinePosterior(np.array(elo), np.eye(n) * deviation**2, OUTCOMES)
    return Matchmaker(posterior, np.zeros(n, dtype=np.int64), picks=1, rule=rule)


def test_a_rule_takes_three_turns_of_four() -> None:
    """Its own pairings, and one for the ratings."""
    maker = with_rule([0.0, 20.0, 40.0], 50.0, StoppingRule(0.95, 10.0))
    criteria = [pick.criterion for _ in range(5) if (pick := maker.pick(everybody(3)))]
    order = [Criterion.ORDER] * 3
    assert criteria == [*order, Criterion.VARIANCE, Criterion.ORDER]


def test_the_top_is_told_from_the_rest_at_the_border() -> None:
    """The two nearest of all are not asked for, those on either side of the border are."""
    elo = [300.0, 299.0, 250.0, 60.0, 59.0]
    assert couple(with_rule(elo, 40.0, StoppingRule(0.95)).pick(everybody(5))) == {0, 1}
    assert couple(with_rule(elo, 40.0, StoppingRule(0.95, top=2)).pick(everybody(5))) == {1, 2}


def test_a_zone_leaves_alone_whom_it_holds_surely() -> None:
    """Two equals known to 4 Elo need no game where 10 do not matter, and every one else."""
    covariance = np.diag([9.0, 9.0, 400.0, 400.0])
    elo = [400.0, 400.0, 85.0, 0.0]

    def pick(rule: StoppingRule) -> set[int]:
        posterior = OnlinePosterior(np.array(elo), covariance, OUTCOMES)
        labels = np.zeros(4, dtype=np.int64)
        return couple(Matchmaker(posterior, labels, picks=1, rule=rule).pick(everybody(4)))

    assert pick(StoppingRule(0.95)) == {0, 1}
    assert pick(StoppingRule(0.95, zone=10.0)) == {2, 3}


def test_who_is_free_and_not_asked_for_plays_for_the_ratings() -> None:
    """Nobody waits."""
    maker = with_rule([300.0, 200.0, 100.0, 0.0], 40.0, StoppingRule(0.95, top=2))
    may_meet = np.zeros((4, 4), dtype=bool)
    may_meet[2, 3] = may_meet[3, 2] = True
    pick = maker.pick(may_meet)
    assert pick is not None
    assert pick.criterion is Criterion.VARIANCE

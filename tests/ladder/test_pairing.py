"""What a pairing table takes from a run for versions that the run does not know."""

from collections import Counter

import numpy as np
import pytest
from sqlalchemy import Connection
from tests.store.league import BLACK, NOON, WHITE, League

from meijin.ladder.pairing import PairingTable
from meijin.ladder.posterior import RatingPosterior
from meijin.ladder.refresh import refresh
from meijin.ladder.statistics.fit.bradley_terry import Prior
from meijin.ladder.statistics.pairing.matchmaking import Criterion, Pick
from meijin.ladder.statistics.pairing.stopping_rule import StoppingRule
from meijin.store.ladders.planning import LadderState, ladder_state
from meijin.store.schema import TournamentId


def state_of(league: League) -> LadderState:
    def read(connection: Connection) -> LadderState:
        return ladder_state(connection, league.ladder_id, TournamentId(1))

    return league.database.read(read)


def table_of(league: League, *numbers: int, rule: StoppingRule | None = None) -> PairingTable:
    return PairingTable(
        state_of(league),
        [league.bots[number] for number in numbers],
        picks=0,
        unplayed=Counter(),
        played_out=(),
        rule=rule,
    )


def first_pick(league: League, one: int, other: int) -> Pick:
    """Why two bots meet, and by how much the first is thought the stronger."""
    bots = [league.bots[one], league.bots[other]]
    table = table_of(league, one, other)
    [(first, _, pick)] = table.plan(free=dict.fromkeys(bots, 2), playing=(), ended=(), most=1)
    if first == bots[0]:
        return pick
    return Pick(pick.other, pick.one, pick.criterion, -pick.difference, pick.deviation)


@pytest.fixture
def known(league: League) -> RatingPosterior:
    """The run of a league whose bot 0 is far stronger than bot 1."""
    league.finish(*[(0, 1, BLACK), (1, 0, WHITE), (0, 1, BLACK), (1, 0, BLACK)] * 25)
    league.finish(*[(1, 2, BLACK), (2, 1, BLACK)] * 25)
    assert refresh(league.database, league.ladder_id, lambda: NOON)
    state = state_of(league)
    return RatingPosterior.of(state.table, state.covariances)


@pytest.mark.usefixtures("known")
def test_nobody_is_paired_while_nobody_is_here(league: League) -> None:
    """As on a ladder for everybody after a restart, before the first has come back."""
    assert table_of(league).plan(free={}, playing=(), ended=(), most=1) == []


@pytest.mark.parametrize("steps", [1, 3])
def test_a_new_version_is_paired_as_its_parent_and_less_surely(
    league: League, known: RatingPosterior, steps: int
) -> None:
    """By the lineage's width for each version since the one that the run knows."""
    places = [list(known.versions).index(league.versions[number]) for number in (0, 1)]
    for step in range(steps):
        league.renew(0, f"{step + 2}.0")
    pick = first_pick(league, 0, 1)
    assert pick.criterion is Criterion.LINK
    assert pick.difference == pytest.approx(known.elo[places[0]] - known.elo[places[1]], abs=0.1)
    one, other = np.array(places).reshape(2, 1)
    variance = float(known.covariance.of_differences(one, other)[0])
    wanted = (variance + steps * Prior().lineage ** 2) ** 0.5
    assert pick.deviation == pytest.approx(wanted, rel=1e-3)


@pytest.mark.usefixtures("known")
def test_a_bot_without_a_rated_ancestor_has_the_prior(league: League) -> None:
    """Though it has versions: none of them has played here."""
    league.renew(4, "2.0")
    assert first_pick(league, 4, 2).deviation > 600


@pytest.mark.usefixtures("known")
def test_games_of_a_new_version_are_taken_in(league: League) -> None:
    """Those since the run move it away from its parent."""
    league.renew(0, "2.0")
    before = first_pick(league, 0, 1)
    league.finish(*[(0, 1, WHITE), (1, 0, BLACK)] * 5)
    after = first_pick(league, 0, 1)
    assert after.difference < before.difference - 100
    assert after.deviation < before.deviation


@pytest.mark.usefixtures("known")
def test_a_parent_settles_nothing(league: League) -> None:
    """The order is sure of the versions that have played, and not of their heirs."""
    assert table_of(league, 0, 1, rule=StoppingRule(0.5)).is_settled
    league.renew(0, "2.0")
    assert not table_of(league, 0, 1, rule=StoppingRule(0.5)).is_settled


def test_a_table_is_not_made_anew_for_a_bot_that_comes_back(league: League) -> None:
    """It knows who was there; a bot that is new to it makes another one."""
    ada, bob, cleo = (league.bots[number] for number in range(3))
    table = table_of(league, 0, 1)
    assert table.has({ada})
    assert table.has({ada, bob})
    assert not table.has({ada, cleo})


def test_nobody_is_paired_within_a_component_while_there_are_others(league: League) -> None:
    """Nor while one of another is in a game: two who are always free together would meet no others."""
    league.finish((0, 1, BLACK), (2, 3, BLACK))
    assert refresh(league.database, league.ladder_id, lambda: NOON)
    table, free = table_of(league, 0, 1, 2, 3), dict.fromkeys(league.bots[:2], 2)
    assert table.plan(free=free, playing=[league.bots[2]], ended=(), most=1) == []
    assert len(table.plan(free=free, playing=(), ended=(), most=1)) == 1

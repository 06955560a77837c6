"""From a snapshot to published ratings."""

import random
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
import pytest
from structlog.testing import capture_logs

from meijin.game import Result
from meijin.ladder import bradley_terry, elo
from meijin.ladder.refresh import BASE, rate, refresh
from meijin.store import ladders
from meijin.store.ladders import Snapshot, Standings, UnknownLadderError
from meijin.store.tables import LadderId

if TYPE_CHECKING:
    from tests.ladder.conftest import League

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
BLACK, WHITE, DRAW = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW


def snapshot(league: "League") -> Snapshot:
    """The league's games now."""
    return league.database.read(lambda connection: ladders.snapshot(connection, league.ladder_id))


def standings(league: "League") -> Standings:
    """What is published of the league."""
    return league.database.read(lambda connection: ladders.standings(connection, league.ladder_id))


def test_ratings_are_of_both_kinds(league: "League") -> None:
    """Elo is the fit around 1500, classic Elo the replay, both to four decimals."""
    league.finish_random(200)
    found = snapshot(league)
    rows = [(p.black_id, p.white_id, p.wins, p.draws, p.losses) for p in found.pair_counts]
    fit = bradley_terry.fit(bradley_terry.PairCounts(*np.array(rows).T))
    classic = elo.replay(found.results)
    ratings = {rating.version_id: rating for rating in rate(found, NOON).ratings}
    for version, strength in zip(fit.players.tolist(), fit.elo.tolist(), strict=True):
        assert ratings[version].elo == round(BASE + strength, 4)
        assert ratings[version].classic_elo == round(classic[version], 4)
    assert sum(rating.elo for rating in ratings.values()) == pytest.approx(5 * BASE, abs=0.01)


def test_a_rating_counts_its_games(league: "League") -> None:
    """Wins, draws and losses are of both colours, faults the losses by forfeit."""
    league.finish((0, 1, BLACK), (1, 0, BLACK), (0, 1, DRAW), (1, 0, DRAW), (1, 0, WHITE))
    league.finish((0, 1, WHITE), forfeit=True)
    ratings = {rating.version_id: rating for rating in rate(snapshot(league), NOON).ratings}
    ours, other = (ratings[version] for version in league.versions[:2])
    assert (ours.games, ours.wins, ours.draws, ours.losses, ours.faults) == (6, 2, 2, 2, 1)
    assert (other.games, other.wins, other.draws, other.losses, other.faults) == (6, 2, 2, 2, 0)
    assert len(ratings) == 2


def test_ranks_go_down_from_the_best(league: "League") -> None:
    """Equal ratings are ranked by age, so that ranks don't flicker."""
    league.finish((4, 3, BLACK), (3, 4, WHITE), (2, 1, DRAW), (1, 2, DRAW))
    ratings = rate(snapshot(league), NOON).ratings
    assert [rating.rank for rating in ratings] == [1, 2, 3, 4]
    order = [league.versions.index(rating.version_id) for rating in ratings]
    assert order == [4, 1, 2, 3]
    assert ratings[1].elo == ratings[2].elo


def test_a_run_names_its_input(league: "League") -> None:
    """Revision, games, checksum and parameters are those it was computed with."""
    league.finish_random(20)
    found = snapshot(league)
    run = rate(found, NOON)
    assert (run.ladder_id, run.revision, run.games) == (league.ladder_id, 20, 20)
    assert run.checksum == found.checksum
    assert run.create_time == NOON
    assert run.parameters.keys() == {"advantage", "base", "prior"}


def test_equal_games_give_equal_runs(league: "League") -> None:
    """The order of the counted pairs makes no difference to anything but the checksum."""
    league.finish_random(100)
    found = snapshot(league)
    pairs = random.Random(1).sample(found.pair_counts, len(found.pair_counts))
    shuffled = rate(replace(found, pair_counts=pairs), NOON)
    assert replace(shuffled, checksum="") == replace(rate(found, NOON), checksum="")


def test_the_last_void_game_leaves_an_empty_run(league: "League") -> None:
    """A ladder without rated games has a run without ratings."""
    assert rate(snapshot(league), NOON).ratings == []


def test_a_dirty_ladder_is_published_once(league: "League") -> None:
    """The second refresh finds nothing to do."""
    league.finish_random(50)
    with capture_logs() as logs:
        assert refresh(league.database, league.ladder_id, lambda: NOON)
        assert not refresh(league.database, league.ladder_id, lambda: NOON)
    (line,) = logs
    assert (line["event"], line["ladder"]) == ("ladder published", "freestyle-15x15")
    assert (line["revision"], line["games"], line["versions"]) == (50, 50, 5)
    found = standings(league)
    assert found.run is not None
    assert (found.run.revision, found.run.games) == (50, 50)
    assert found.ladder.is_current


def test_a_clean_ladder_is_left_alone(league: "League") -> None:
    """A ladder without a change gets no run."""
    assert not refresh(league.database, league.ladder_id)
    assert standings(league).run is None


def test_games_that_finish_meanwhile_are_for_the_next_run(
    league: "League", monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a run is computed nothing is locked, and the ladder stays dirty."""
    league.finish((0, 1, BLACK))

    def rate_slowly(found: Snapshot, create_time: datetime) -> ladders.NewRun:
        league.finish((1, 0, BLACK))
        return rate(found, create_time)

    monkeypatch.setattr("meijin.ladder.refresh.rate", rate_slowly)
    assert refresh(league.database, league.ladder_id)
    found = standings(league)
    assert found.run is not None
    assert (found.run.games, found.ladder.games, found.ladder.is_current) == (1, 2, False)


def test_a_run_that_comes_late_is_dropped(
    league: "League", monkeypatch: pytest.MonkeyPatch
) -> None:
    """When another worker has published meanwhile, this one's run is none."""
    league.finish((0, 1, BLACK))

    def rate_too_late(found: Snapshot, create_time: datetime) -> ladders.NewRun:
        other = rate(found, create_time)
        league.database.write(lambda connection: ladders.publish(connection, other))
        return rate(found, create_time)

    monkeypatch.setattr("meijin.ladder.refresh.rate", rate_too_late)
    with capture_logs() as logs:
        assert not refresh(league.database, league.ladder_id)
    assert logs == []


def test_an_unknown_ladder_is_an_error(league: "League") -> None:
    """Its id is named."""
    with pytest.raises(UnknownLadderError, match="no ladder has the id 999"):
        refresh(league.database, LadderId(999))

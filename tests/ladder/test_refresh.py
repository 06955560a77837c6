"""From a snapshot to a published run."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from structlog.testing import capture_logs

from meijin.game import Result
from meijin.ladder.rating_table import ALGORITHM, rate
from meijin.ladder.refresh import due_ladders, refresh
from meijin.ladder.tally import Snapshot
from meijin.store.errors import UnknownLadderError
from meijin.store.ladders import ladders
from meijin.store.ladders.runs import NewRun, publish
from meijin.store.schema import LadderId

if TYPE_CHECKING:
    from tests.store.league import League

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
BLACK, WHITE, DRAW = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW


def due(league: "League", moment: datetime = NOON) -> list[LadderId]:
    """The ladders that are due."""
    return league.database.read(lambda connection: due_ladders(connection, moment))


def test_a_dirty_ladder_is_published_once(league: "League") -> None:
    """The second refresh finds nothing to do."""
    league.finish_random(50)
    with capture_logs() as logs:
        assert refresh(league.database, league.ladder_id, lambda: NOON)
        assert not refresh(league.database, league.ladder_id, lambda: NOON)
    (line,) = (line for line in logs if line["event"] == "ladder published")
    assert line["ladder"] == "freestyle-15x15"
    assert (line["revision"], line["games"], line["versions"]) == (50, 50, 5)
    found = league.standings()
    assert found.run is not None
    assert (found.run.revision, found.run.games) == (50, 50)
    assert found.ladder.is_current


def test_a_clean_ladder_is_left_alone(league: "League") -> None:
    """A ladder without a change gets no run."""
    assert not refresh(league.database, league.ladder_id)
    assert league.standings().run is None


def test_games_that_finish_meanwhile_are_for_the_next_run(
    league: "League", monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a run is computed nothing is locked, and the ladder stays dirty."""
    league.finish((0, 1, BLACK))

    def rate_slowly(found: Snapshot, create_time: datetime) -> NewRun:
        league.finish((1, 0, BLACK))
        return rate(found, create_time)

    monkeypatch.setattr("meijin.ladder.refresh.rate", rate_slowly)
    assert refresh(league.database, league.ladder_id)
    found = league.standings()
    assert found.run is not None
    assert (found.run.games, found.ladder.games, found.ladder.is_current) == (1, 2, False)


def test_a_run_that_comes_late_is_dropped(
    league: "League", monkeypatch: pytest.MonkeyPatch
) -> None:
    """When another worker has published meanwhile, this one's run is none."""
    league.finish((0, 1, BLACK))

    def rate_too_late(found: Snapshot, create_time: datetime) -> NewRun:
        other = rate(found, create_time)
        league.database.write(lambda connection: publish(connection, other))
        return rate(found, create_time)

    monkeypatch.setattr("meijin.ladder.refresh.rate", rate_too_late)
    with capture_logs() as logs:
        assert not refresh(league.database, league.ladder_id)
    assert "ladder published" not in [line["event"] for line in logs]


def test_a_voided_game_is_not_rated(league: "League") -> None:
    """The next run is that of a ladder where it never was."""
    league.finish((0, 1, BLACK), (1, 2, DRAW), (2, 0, BLACK))
    league.finish((0, 1, BLACK), (0, 1, BLACK), line=(7,))
    refresh(league.database, league.ladder_id)
    before = league.standings()
    for number in (5, 4):
        league.finish((3, 4, BLACK))
        league.void(number)
    league.void(6)
    league.void(7)
    assert refresh(league.database, league.ladder_id)
    after = league.standings()
    assert before.run is not None
    assert after.run is not None
    assert (before.run.games, before.run.repeats, before.run.voided) == (4, 1, 0)
    assert (after.run.games, after.run.repeats, after.run.voided) == (3, 0, 4)
    assert len(after.standings) == 3
    assert after.run.cutoff == 3


def test_a_run_of_an_older_release_is_computed_anew(league: "League") -> None:
    """Though no game has been played since."""
    league.finish_random(20)
    refresh(league.database, league.ladder_id, lambda: NOON)
    assert due(league) == []
    league.database.write(lambda connection: ladders.mark_outdated(connection, ALGORITHM))
    assert due(league) == []
    league.database.write(lambda connection: ladders.mark_outdated(connection, "newer"))
    assert due(league) == [league.ladder_id]
    assert refresh(league.database, league.ladder_id, lambda: NOON)
    found = league.standings()
    assert found.run is not None
    assert (found.run.revision, found.run.games) == (21, 20)


def test_new_anchors_are_a_change(league: "League") -> None:
    """The next run is relative to them."""
    league.finish_random(50)
    refresh(league.database, league.ladder_id)
    league.set_anchors(3)
    assert refresh(league.database, league.ladder_id)
    (line,) = (row.line for row in league.standings().standings if row.line.is_anchor)
    assert line.elo == 1500.0


def test_a_ladder_is_due_for_its_run_or_its_history(
    league: "League", make_league: "type[League]"
) -> None:
    """A published ladder is due once more when its day is over."""
    make_league(league.database, name="empty")
    league.finish((0, 1, BLACK))
    assert due(league) == [league.ladder_id]
    refresh(league.database, league.ladder_id, lambda: NOON)
    assert due(league) == []
    tomorrow = NOON + timedelta(days=1)
    assert due(league, tomorrow) == [league.ladder_id]
    assert not refresh(league.database, league.ladder_id, lambda: tomorrow)
    assert due(league, tomorrow) == []


def test_an_unknown_ladder_is_an_error(league: "League") -> None:
    """Its id is named."""
    with pytest.raises(UnknownLadderError, match="no ladder has the id 999"):
        refresh(league.database, LadderId(999))

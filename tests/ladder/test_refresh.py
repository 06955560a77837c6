"""From a snapshot to a published run."""

from datetime import datetime, timedelta

import pytest
from structlog.testing import capture_logs
from tests.store.league import BLACK, NOON, League

from meijin.ladder.rating_table import rate
from meijin.ladder.refresh import due_ladders, refresh
from meijin.ladder.tally import Snapshot
from meijin.store.ladders.runs import NewRun, publish
from meijin.store.schema import LadderId


def due(league: League, moment: datetime = NOON) -> list[LadderId]:
    return league.database.read(lambda connection: due_ladders(connection, moment))


def test_a_dirty_ladder_is_published_once(league: League) -> None:
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


def test_a_run_that_comes_late_is_dropped(league: League, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_ladder_is_due_for_its_run_or_its_history(league: League) -> None:
    """A published ladder is due once more when its day is over, and new anchors are a change."""
    League(league.database, name="empty")
    league.finish((0, 1, BLACK))
    assert due(league) == [league.ladder_id]
    refresh(league.database, league.ladder_id, lambda: NOON)
    assert due(league) == []
    tomorrow = NOON + timedelta(days=1)
    assert due(league, tomorrow) == [league.ladder_id]
    assert not refresh(league.database, league.ladder_id, lambda: tomorrow)
    assert due(league, tomorrow) == []
    league.set_anchors(1)
    assert due(league, tomorrow) == [league.ladder_id]
    assert refresh(league.database, league.ladder_id)
    (line,) = (row for row in league.standings().standings if row.is_anchor)
    assert line.elo == 1500.0

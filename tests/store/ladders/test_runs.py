"""Runs of ladders: published, kept and shown, on SQLite and PostgreSQL."""

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import Connection, func, select
from tests.store.made_up import LINE, publish, run_of

from meijin.game import Result
from meijin.store import Database
from meijin.store.errors import UnknownLadderError, UnknownRunError
from meijin.store.ladders import ladders
from meijin.store.ladders import runs as rating_runs
from meijin.store.ladders.ladders import LadderSummary
from meijin.store.ladders.runs import Covariances, NewRating, Score, standings
from meijin.store.schema import Ladder, LadderId, Rating, RatingRun, RatingRunId, TournamentId

if TYPE_CHECKING:
    from tests.store.league import League

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
BLACK, DRAW = Result.BLACK_WINS, Result.DRAW


def count_rows(database: Database) -> tuple[int, int]:
    """How many runs and ratings are kept."""
    query = select(
        select(func.count()).select_from(RatingRun).scalar_subquery(),
        select(func.count()).select_from(Rating).scalar_subquery(),
    )
    return database.read(lambda connection: connection.execute(query).one())


@pytest.mark.parametrize("late", [1, 2])
def test_a_late_run_changes_nothing(any_league: "League", late: int) -> None:
    """A run that is as old as the published one, or older, leaves no trace."""
    assert publish(any_league, run_of(any_league, 2))
    before = count_rows(any_league.database)
    assert not publish(any_league, run_of(any_league, late, elo=9999.0))
    assert count_rows(any_league.database) == before
    found = any_league.standings()
    assert found.run is not None
    assert found.run.revision == 2
    assert found.standings[0].line.elo == 1499.0


def test_one_of_many_workers_publishes(any_league: "League") -> None:
    """Of eight runs of one revision published at once, one is kept."""
    start = threading.Barrier(8)
    published: list[bool] = []

    def work() -> None:
        start.wait()
        published.append(publish(any_league, run_of(any_league, 1)))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(published) == [False] * 7 + [True]
    assert count_rows(any_league.database) == (1, len(any_league.versions))


def test_a_run_that_fails_halfway_leaves_no_trace(any_league: "League") -> None:
    """Run, ratings and the ladder's pointer come together or not at all."""
    run = run_of(any_league, 1)

    def fail(connection: Connection) -> None:
        rating_runs.publish(connection, run)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        any_league.database.write(fail)
    assert count_rows(any_league.database) == (0, 0)
    assert publish(any_league, run)


def test_a_run_of_no_games_is_published(any_league: "League") -> None:
    """A ladder whose games all became void has a run without ratings."""
    any_league.versions.clear()
    assert publish(any_league, run_of(any_league, 1))
    found = any_league.standings()
    assert found.standings == []


def test_standings_name_bots_and_versions(any_league: "League") -> None:
    """The published lines, best first, with the run that they are from."""
    any_league.finish((0, 1, BLACK), (0, 1, BLACK), line=(7,))
    any_league.renew(0, "2.0")
    publish(any_league, run_of(any_league, 2))
    found = any_league.standings()
    assert found.ladder == LadderSummary(
        any_league.ladder_id,
        "freestyle-15x15",
        1,
        is_current=True,
        run_id=found.ladder.run_id,
        run_create_time=found.run.create_time if found.run else None,
    )
    assert found.run is not None
    assert found.run.id == found.ladder.run_id
    assert [row.line.rank for row in found.standings] == [1, 2, 3, 4, 5]
    best = found.standings[0]
    assert (best.bot, best.version) == ("freestyle-15x15-bot-0", "2.0")
    assert (best.bot_id, best.version_id) == (any_league.bots[0], any_league.versions[0])
    assert best.line == replace(LINE, elo=1499.0)


def test_a_line_tells_the_colours_apart() -> None:
    """Wins, draws and losses of each, and how many games they are."""
    assert (LINE.as_black, LINE.as_white) == (Score(2, 1, 1), Score(1, 1, 0))
    assert (LINE.as_black.games, LINE.as_white.games) == (4, 2)


def test_a_run_comes_back_as_it_was_published(any_league: "League") -> None:
    """With everything that it was computed from and with."""
    new = run_of(any_league, 5)
    publish(any_league, new)
    run = any_league.standings().run
    assert run is not None
    assert (run.revision, run.voided, run.cutoff) == (5, 3, 7)
    assert (run.games, run.repeats, run.checksum) == (5, 2, f"{5:064}")
    assert (run.algorithm, run.parameters) == ("made-up", {"advantage": 12.5, "anchors": [1]})
    assert run.create_time == NOON + timedelta(minutes=5)


def test_the_last_in_rank_is_superior_to_nobody(any_league: "League") -> None:
    """Its chance is absent, not 0."""
    run = run_of(any_league, 1)
    last = replace(run.ratings[-1].line, superiority=None)
    publish(any_league, replace(run, ratings=[NewRating(any_league.versions[-1], last)]))
    assert any_league.standings().standings[0].line == last


def test_an_earlier_run_is_shown_too(any_league: "League") -> None:
    """Until it is forgotten; another ladder's run is none of this one's."""
    publish(any_league, run_of(any_league, 1, elo=1000.0))
    first = any_league.standings().run
    publish(any_league, run_of(any_league, 2))
    assert first is not None
    found = any_league.database.read(
        lambda connection: standings(connection, any_league.ladder_id, first.id)
    )
    assert found.run == first
    assert found.standings[0].line.elo == 999.0


def test_an_unknown_run_is_named(any_league: "League", make_league: "type[League]") -> None:
    """So is one of another ladder."""
    other = make_league(any_league.database, name="standard-15x15")
    publish(other, run_of(other, 1))
    run = other.standings().run
    assert run is not None
    for run_id in (run.id, RatingRunId(999)):
        with pytest.raises(UnknownRunError, match=f'"freestyle-15x15" has no run {run_id}'):
            any_league.database.read(
                partial(standings, ladder_id=any_league.ladder_id, run_id=run_id)
            )


def test_the_published_runs_covariances_are_kept(any_league: "League") -> None:
    """Those of earlier runs are not, nor any where there are none."""

    def kept() -> Covariances | None:
        return any_league.database.read(
            lambda connection: rating_runs.covariances(connection, any_league.ladder_id)
        )

    assert kept() is None
    publish(any_league, run_of(any_league, 1))
    publish(any_league, run_of(any_league, 2))
    assert kept() == Covariances(b"versions", b"matrix 2")
    publish(any_league, replace(run_of(any_league, 3), covariances=None))
    assert kept() is None


def test_old_runs_are_forgotten_but_for_each_days_last(
    any_league: "League", monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest stay whole, and all of another ladder's."""
    monkeypatch.setattr(rating_runs, "KEPT_RUNS", 3)
    any_league.versions = any_league.versions[:1]
    for revision in range(1, 13):
        time = NOON + timedelta(days=revision // 3)
        publish(any_league, run_of(any_league, revision, time=time))
    query = select(RatingRun.revision).order_by(RatingRun.id)
    kept = any_league.database.read(lambda connection: connection.scalars(query).all())
    assert kept == [2, 5, 8, 10, 11, 12]
    assert count_rows(any_league.database) == (6, 6)


def test_standings_before_the_first_run_are_empty(any_league: "League") -> None:
    """A ladder without a run has no lines."""
    any_league.finish((0, 1, BLACK))
    found = any_league.standings()
    assert found.run is None
    assert found.standings == []
    assert not found.ladder.is_current


def test_an_unknown_ladder_has_no_standings(any_league: "League") -> None:
    """The message names its id."""
    with pytest.raises(UnknownLadderError, match="no ladder has the id 999"):
        any_league.database.read(lambda connection: standings(connection, LadderId(999)))


def test_the_first_run_with_all_games_of_a_settled_ladder_is_final(any_league: "League") -> None:
    """One whose games were read before the last end is not, nor are those that come after."""
    database, settled = any_league.database, TournamentId(7)
    any_league.finish_random(5)
    for _ in range(3):
        database.write(lambda to: ladders.settle(to, settled, any_league.ladder_id))
    finals = []
    for log_end in (4, 5, 6):
        run = replace(run_of(any_league, 10 + log_end), sequenced=log_end)
        assert publish(any_league, run)
        published = any_league.standings().run
        assert published is not None
        finals.append((published.id, published.final_of))
    assert [final_of for _, final_of in finals] == [None, settled, None]
    assert database.read(lambda at: rating_runs.final_run(at, settled)) == finals[1][0]
    assert database.read(lambda at: rating_runs.final_run(at, TournamentId(8))) is None


def test_a_run_from_before_a_ladder_was_settled_is_not_final(any_league: "League") -> None:
    """Its anchors, or what it counts, may be others; one that has all games and is newer is."""
    database, settled = any_league.database, TournamentId(7)
    any_league.finish_random(5)
    revision = select(Ladder.revision).where(Ladder.id == any_league.ladder_id)
    before = database.read(lambda at: at.scalar(revision)) or 0
    database.write(lambda to: ladders.settle(to, settled, any_league.ladder_id))
    finals = []
    for read_at in (before, before + 1):
        assert publish(any_league, run_of(any_league, read_at))
        published = any_league.standings().run
        assert published is not None
        finals.append(published.final_of)
    assert finals == [None, settled]


def test_final_runs_are_kept_for_ever(
    any_league: "League", monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many follow on the same day."""
    monkeypatch.setattr(rating_runs, "KEPT_RUNS", 2)
    any_league.database.write(lambda to: ladders.settle(to, TournamentId(7), any_league.ladder_id))
    for revision in range(10, 16):
        publish(any_league, run_of(any_league, revision))
    query = select(RatingRun.revision).order_by(RatingRun.id)
    kept = any_league.database.read(lambda at: at.scalars(query).all())
    assert kept == [10, 14, 15]

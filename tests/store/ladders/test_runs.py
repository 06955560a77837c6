"""Runs of ladders: published, kept and shown, on SQLite and PostgreSQL."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from functools import partial
from threading import Barrier

import pytest
from tests.store.league import League
from tests.store.made_up import LINE, NOON, publish, run_of
from tests.store.stored import stored

from meijin.game import Result
from meijin.store.errors import RowNotFoundError, UnknownLadderError
from meijin.store.ladders import ladders
from meijin.store.ladders import runs as rating_runs
from meijin.store.ladders.ladders import LadderSummary
from meijin.store.ladders.runs import ratings_by_run, standings
from meijin.store.schema import (
    Ladder,
    LadderId,
    RatingLine,
    RatingRun,
    RatingRunId,
    Score,
    TournamentId,
)

BLACK = Result.BLACK_WINS


def count_rows(league: League) -> tuple[int, int]:
    runs, lines = (stored(league.database, each) for each in (RatingRun.id, RatingLine.run_id))
    return len(runs), len(lines)


def published(league: League) -> RatingRun:
    run = league.standings().run
    assert run is not None
    return run


@pytest.mark.parametrize("late", [1, 2])
def test_a_late_run_changes_nothing(any_league: League, late: int) -> None:
    """A run that is as old as the published one, or older, leaves no trace."""
    assert publish(any_league, run_of(any_league, 2))
    before = count_rows(any_league)
    assert not publish(any_league, run_of(any_league, late, elo=9999.0))
    assert count_rows(any_league) == before
    assert published(any_league).revision == 2
    assert any_league.standings().standings[0].elo == 1499.0


def test_one_of_many_workers_publishes(any_league: League) -> None:
    """Of eight runs of one revision published at once, one is kept."""
    start = Barrier(8)

    def work(_: int) -> bool:
        start.wait()
        return publish(any_league, run_of(any_league, 1))

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(work, range(8))) == [False] * 7 + [True]
    assert count_rows(any_league) == (1, len(any_league.versions))


def test_standings_name_bots_and_versions(any_league: League) -> None:
    """The published lines, best first, with the run that they are from."""
    any_league.finish((0, 1, BLACK), (0, 1, BLACK), line=(7,))
    before = any_league.standings()
    assert (before.run, before.standings, before.ladder.is_current) == (None, [], False)
    any_league.renew(0, "2.0")
    publish(any_league, run_of(any_league, 2))
    found, run = any_league.standings(), published(any_league)
    assert found.ladder == LadderSummary(
        any_league.ladder_id,
        "freestyle-15x15",
        1,
        is_current=True,
        run_id=run.id,
        run_create_time=run.create_time,
        run_games=2,
    )
    assert [row.rank for row in found.standings] == [1, 2, 3, 4, 5]
    best = found.standings[0]
    assert (best.bot, best.version) == ("freestyle-15x15-bot-0", "2.0")
    assert (best.bot_id, best.version_id) == (any_league.bots[0], any_league.versions[0])
    assert (best.elo, best.margin) == (1499.0, LINE.margin)
    assert (best.as_black, best.as_white) == (LINE.as_black, LINE.as_white)


def test_a_line_tells_the_colours_apart() -> None:
    """Wins, draws and losses of each, and how many games they are."""
    assert (LINE.as_black, LINE.as_white) == (Score(2, 1, 1), Score(1, 1, 0))
    assert (LINE.as_black.games, LINE.as_white.games) == (4, 2)


def test_a_bot_is_rated_by_each_run(any_league: League) -> None:
    """All of its versions, newest run and version first; in pages."""
    publish(any_league, run_of(any_league, 1))
    publish(any_league, run_of(any_league, 2, elo=1600.0))
    find = partial(ratings_by_run, ladder_id=any_league.ladder_id, bot_id=any_league.bots[1])
    newer, older = any_league.database.read(partial(find, limit=9))
    assert (newer.elo, older.elo) == (1598.0, 1498.0)
    assert (newer.version, newer.games, newer.day) == ("1.0", 6, f"{NOON:%Y-%m-%d}")
    assert newer.create_time - older.create_time == timedelta(minutes=1)
    before = (newer.run_id, newer.version_id)
    assert any_league.database.read(partial(find, limit=9, before=before)) == [older]
    assert any_league.database.read(partial(find, limit=1)) == [newer]


def test_a_run_comes_back_as_it_was_published(any_league: League) -> None:
    """With everything that it was computed from and with, until it is forgotten."""
    new = run_of(any_league, 5, elo=1000.0)
    publish(any_league, new)
    first = published(any_league)
    assert (first.revision, first.voided, first.cutoff) == (5, 3, 7)
    assert (first.games, first.repeats, first.checksum) == (5, 2, f"{5:064}")
    assert (first.algorithm, first.parameters) == ("made-up", new.parameters)
    assert first.create_time == NOON + timedelta(minutes=5)
    publish(any_league, run_of(any_league, 6))
    found = any_league.database.read(standings, any_league.ladder_id, first.id)
    assert (found.run, found.standings[0].elo) == (first, 999.0)


def test_the_last_in_rank_is_superior_to_nobody(any_league: League) -> None:
    """Its chance is absent, not 0; a ladder whose games all became void has no lines at all."""
    run = run_of(any_league, 1)
    publish(any_league, replace(run, ratings=[replace(run.ratings[-1], superiority=None)]))
    assert any_league.standings().standings[0].superiority is None
    publish(any_league, replace(run, revision=2, ratings=[]))
    assert any_league.standings().standings == []


def test_an_unknown_run_is_named(any_league: League) -> None:
    """So is one of another ladder, and a ladder that is not there."""
    other = League(any_league.database, name="standard-15x15")
    publish(other, run_of(other, 1))
    for run_id in (published(other).id, RatingRunId(999)):
        with pytest.raises(RowNotFoundError, match=f'"freestyle-15x15" has no run {run_id}'):
            any_league.database.read(standings, any_league.ladder_id, run_id)
    with pytest.raises(UnknownLadderError, match="no ladder has the id 999"):
        any_league.database.read(standings, LadderId(999))


def test_the_published_runs_covariances_are_kept(any_league: League) -> None:
    """Those of earlier runs are not, nor any where there are none."""

    def kept() -> bytes | None:
        found = any_league.database.read(rating_runs.covariances, any_league.ladder_id)
        return None if found is None else found.version_ids + found.matrix

    assert kept() is None
    publish(any_league, run_of(any_league, 1))
    publish(any_league, run_of(any_league, 2))
    assert kept() == b"versionsmatrix 2"
    publish(any_league, replace(run_of(any_league, 3), covariances=None))
    assert kept() is None


def test_old_runs_are_forgotten_but_for_each_days_last(
    any_league: League, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And but for final ones, however many follow; the newest stay whole."""
    monkeypatch.setattr(rating_runs, "KEPT_RUNS", 3)
    any_league.versions = any_league.versions[:1]
    for revision in range(1, 13):
        if revision == 7:
            any_league.database.write(ladders.settle, TournamentId(7), any_league.ladder_id)
        time = NOON + timedelta(days=revision // 3)
        publish(any_league, run_of(any_league, revision, time=time))
    assert stored(any_league.database, RatingRun.revision) == [2, 5, 7, 8, 10, 11, 12]
    assert count_rows(any_league) == (7, 7)


def test_the_first_run_with_all_games_of_a_settled_ladder_is_final(any_league: League) -> None:
    """One whose games were read before the last end is not, nor are those that come after."""
    database, settled = any_league.database, TournamentId(7)
    any_league.finish_random(5)
    for _ in range(3):
        database.write(ladders.settle, settled, any_league.ladder_id)
    runs = []
    for log_end in (4, 5, 6):
        assert publish(any_league, replace(run_of(any_league, 10 + log_end), sequenced=log_end))
        runs.append(published(any_league))
    assert [run.final_of for run in runs] == [None, settled, None]
    assert database.read(rating_runs.final_run, settled) == runs[1].id
    assert database.read(rating_runs.final_run, TournamentId(8)) is None


def test_a_run_from_before_a_ladder_was_settled_is_not_final(any_league: League) -> None:
    """Its anchors, or what it counts, may be others; one that has all games and is newer is."""
    settled = TournamentId(7)
    any_league.finish_random(5)
    (before,) = stored(any_league.database, Ladder.revision)
    any_league.database.write(ladders.settle, settled, any_league.ladder_id)
    finals = []
    for read_at in (before, before + 1):
        assert publish(any_league, run_of(any_league, read_at))
        finals.append(published(any_league).final_of)
    assert finals == [None, settled]

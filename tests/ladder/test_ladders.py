"""What is published of ladders, on SQLite and PostgreSQL."""

import threading
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import Connection, func, select, update

from meijin.game import Result
from meijin.store import Database, ladders
from meijin.store.ladders import (
    Covariances,
    DayRating,
    HeadToHead,
    LadderSummary,
    Line,
    NewDayRating,
    NewRating,
    NewRun,
    Score,
    UnknownBotError,
    UnknownLadderError,
    UnknownRunError,
)
from meijin.store.tables import BotId, Ladder, LadderId, Rating, RatingRun, RatingRunId

if TYPE_CHECKING:
    from tests.ladder.conftest import League

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
BLACK, WHITE, DRAW = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW
LINE = Line(
    rank=1,
    elo=1500.0,
    margin=50.25,
    superiority=0.75,
    classic_elo=1500.25,
    opponents_elo=1499.5,
    wins_as_black=2,
    draws_as_black=1,
    losses_as_black=1,
    wins_as_white=1,
    draws_as_white=1,
    losses_as_white=0,
    faults=1,
    is_anchor=False,
    is_provisional=True,
    is_linked=True,
)


def run_of(
    league: "League", revision: int, *, elo: float = 1500.0, time: datetime | None = None
) -> NewRun:
    """A made-up run in which everybody has a rating, the first bot the best."""
    return NewRun(
        ladder_id=league.ladder_id,
        revision=revision,
        voided=3,
        cutoff=revision + 2,
        games=revision,
        repeats=2,
        checksum=f"{revision:064}",
        algorithm="made-up",
        parameters={"advantage": 12.5, "anchors": [1]},
        create_time=time or NOON + timedelta(minutes=revision),
        ratings=[
            NewRating(version, replace(LINE, rank=rank, elo=elo - rank))
            for rank, version in enumerate(league.versions, start=1)
        ],
        covariances=Covariances(b"versions", f"matrix {revision}".encode()),
    )


def publish(league: "League", run: NewRun) -> bool:
    """Publish in a transaction."""
    return league.database.write(lambda connection: ladders.publish(connection, run))


def count_rows(database: Database) -> tuple[int, int]:
    """How many runs and ratings are kept."""
    query = select(
        select(func.count()).select_from(RatingRun).scalar_subquery(),
        select(func.count()).select_from(Rating).scalar_subquery(),
    )
    return database.read(lambda connection: connection.execute(query).one())


def test_a_ladder_is_dirty_until_its_revision_is_published(
    any_league: "League", make_league: "type[League]"
) -> None:
    """A run of an older revision leaves it dirty."""
    make_league(any_league.database, name="clean")
    database, ladder_id = any_league.database, any_league.ladder_id
    any_league.finish((0, 1, DRAW), (1, 0, DRAW))
    assert database.read(ladders.dirty_ladders) == [ladder_id]
    publish(any_league, run_of(any_league, 1))
    assert database.read(lambda connection: ladders.is_dirty(connection, ladder_id))
    publish(any_league, run_of(any_league, 2))
    assert database.read(ladders.dirty_ladders) == []
    assert not database.read(lambda connection: ladders.is_dirty(connection, ladder_id))


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
        ladders.publish(connection, run)
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
    assert found.ladder == LadderSummary(any_league.ladder_id, "freestyle-15x15", 1, True)  # noqa: FBT003
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
        lambda connection: ladders.standings(connection, any_league.ladder_id, first.id)
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
                partial(ladders.standings, ladder_id=any_league.ladder_id, run_id=run_id)
            )


def test_the_published_runs_covariances_are_kept(any_league: "League") -> None:
    """Those of earlier runs are not, nor any where there are none."""

    def kept() -> Covariances | None:
        return any_league.database.read(
            lambda connection: ladders.covariances(connection, any_league.ladder_id)
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
    monkeypatch.setattr(ladders, "KEPT_RUNS", 3)
    any_league.versions = any_league.versions[:1]
    for revision in range(1, 13):
        time = NOON + timedelta(days=revision // 3)
        publish(any_league, run_of(any_league, revision, time=time))
    query = select(RatingRun.revision).order_by(RatingRun.id)
    kept = any_league.database.read(lambda connection: connection.scalars(query).all())
    assert kept == [2, 5, 8, 10, 11, 12]
    assert count_rows(any_league.database) == (6, 6)


def test_a_run_of_another_algorithm_is_outdated(
    any_league: "League", make_league: "type[League]"
) -> None:
    """Its ladder becomes dirty, so that the same games are computed anew."""
    database = any_league.database
    current, dirty = (make_league(database, name=name, bots=2) for name in ("current", "dirty"))
    publish(any_league, run_of(any_league, 4))
    publish(current, replace(run_of(current, 4), algorithm="newer"))
    publish(dirty, run_of(dirty, 4))
    for league, revision in ((any_league, 4), (current, 4), (dirty, 9)):
        change = update(Ladder).where(Ladder.id == league.ladder_id).values(revision=revision)
        with database.writer.begin() as connection:
            connection.execute(change)
    database.write(lambda connection: ladders.mark_outdated(connection, "newer"))
    revisions = select(Ladder.name, Ladder.revision).order_by(Ladder.name)
    found = database.read(lambda connection: dict(connection.execute(revisions).all()))
    assert found == {"current": 4, "dirty": 9, "freestyle-15x15": 5}
    assert publish(any_league, replace(run_of(any_league, 5), algorithm="newer"))


def test_anchors_are_set_and_change_the_ladder(any_league: "League") -> None:
    """Sorted and each once; none at all is a setting too."""

    def anchors() -> list[int]:
        return list(
            any_league.database.read(
                lambda connection: ladders.anchors(connection, any_league.ladder_id)
            )
        )

    assert anchors() == []
    any_league.set_anchors(3, 1)
    assert anchors() == sorted((any_league.versions[1], any_league.versions[3]))
    any_league.set_anchors(2)
    assert anchors() == [any_league.versions[2]]
    any_league.set_anchors()
    assert anchors() == []
    revision = select(Ladder.revision).where(Ladder.id == any_league.ladder_id)
    assert any_league.database.read(lambda connection: connection.scalar(revision)) == 3


def test_standings_before_the_first_run_are_empty(any_league: "League") -> None:
    """A ladder without a run has no lines."""
    any_league.finish((0, 1, BLACK))
    found = any_league.standings()
    assert found.run is None
    assert found.standings == []
    assert not found.ladder.is_current


def test_ladders_are_listed_by_name(any_league: "League", make_league: "type[League]") -> None:
    """Pages follow each other by the last name."""
    for name in ("a", "z"):
        make_league(any_league.database, name=name, bots=2)
    any_league.finish((0, 1, DRAW))

    def page(after: str) -> list[str]:
        return [
            summary.name
            for summary in any_league.database.read(
                lambda connection: ladders.list_ladders(connection, limit=2, after=after)
            )
        ]

    assert page("") == ["a", "freestyle-15x15"]
    assert page("freestyle-15x15") == ["z"]
    assert page("z") == []
    (found,) = any_league.database.read(
        lambda connection: ladders.list_ladders(connection, limit=1, after="a")
    )
    assert (found.games, found.is_current) == (1, False)


@pytest.mark.parametrize("name", [None, "", "freestyle-15x15"])
def test_the_only_ladder_needs_no_name(any_league: "League", name: str | None) -> None:
    """Without a name it is meant anyway."""
    found = any_league.database.read(lambda connection: ladders.ladder_named(connection, name))
    assert found.id == any_league.ladder_id


def test_a_wrong_name_is_told_the_right_ones(
    any_league: "League", make_league: "type[League]"
) -> None:
    """With several ladders, a missing name is wrong too."""
    database = any_league.database
    make_league(database, name="standard-15x15", bots=2)
    names = "there are: freestyle-15x15, standard-15x15"
    with pytest.raises(UnknownLadderError, match=f'^no ladder "x"; {names}$'):
        database.read(lambda connection: ladders.ladder_named(connection, "x"))
    with pytest.raises(UnknownLadderError, match=f"^name a ladder; {names}$"):
        database.read(lambda connection: ladders.ladder_named(connection, None))


def test_a_server_without_a_ladder_says_so(any_database: Database) -> None:
    """The message tells where ladders come from."""
    with pytest.raises(UnknownLadderError, match="the first rated tournament makes one"):
        any_database.read(lambda connection: ladders.ladder_named(connection, None))


def test_history_is_newest_first_and_in_pages(any_league: "League") -> None:
    """Each day has a line for each version of the bot, the newest version first."""
    old, other = any_league.versions[:2]
    new = any_league.renew(0, "2.0")
    first, second = date(2025, 12, 31), date(2026, 1, 1)
    days = [
        NewDayRating(day, version, elo, 12.5, 20)
        for day, version, elo in (
            (first, old, 1400.5),
            (second, old, 1410.0),
            (second, new, 1600.0),
            (second, other, 1500.0),
        )
    ]
    database, ladder_id, bot_id = any_league.database, any_league.ladder_id, any_league.bots[0]
    database.write(
        lambda connection: ladders.replace_history(connection, ladder_id, days, {"a": [1]})
    )
    whole = database.read(lambda connection: ladders.rating_history(connection, ladder_id, bot_id))
    assert whole == [
        DayRating(second, new, "2.0", 1600.0, 12.5, 20),
        DayRating(second, old, "1.0", 1410.0, 12.5, 20),
        DayRating(first, old, "1.0", 1400.5, 12.5, 20),
    ]
    for place in range(3):
        before = (whole[place].day, whole[place].version_id)
        page = partial(ladders.rating_history, ladder_id=ladder_id, bot_id=bot_id, limit=1)
        rest = database.read(partial(page, before=before))
        assert rest == whole[place + 1 : place + 2]


def test_a_new_history_replaces_the_old(any_league: "League", make_league: "type[League]") -> None:
    """On its own ladder alone, together with what it was made from."""
    other = make_league(any_league.database, name="standard-15x15")
    database = any_league.database
    for league in (any_league, other):
        lines = [NewDayRating(date(2026, 1, 1), league.versions[0], 1500.0, 10.0, 5)]
        write = partial(ladders.replace_history, ladder_id=league.ladder_id)
        database.write(partial(write, days=lines, state={"days": 1}))
    replace_ours = partial(ladders.replace_history, ladder_id=any_league.ladder_id)
    database.write(partial(replace_ours, days=[], state={}))

    def state(league: "League") -> tuple[object, int]:
        key, bot = league.ladder_id, league.bots[0]
        return database.read(
            lambda connection: (
                ladders.history_state(connection, key),
                len(ladders.rating_history(connection, key, bot)),
            )
        )

    assert (state(any_league), state(other)) == (({}, 0), ({"days": 1}, 1))


def test_head_to_head_counts_all_versions(any_league: "League") -> None:
    """From the bot's side, by its colour."""
    any_league.finish((0, 1, BLACK), (0, 1, DRAW), (1, 0, BLACK), (0, 2, WHITE))
    any_league.renew(0, "2.0")
    any_league.renew(1, "2.0")
    any_league.finish((0, 1, BLACK), (0, 1, WHITE), (1, 0, WHITE), (1, 0, DRAW))
    any_league.finish((0, 1, DRAW), (0, 1, BLACK), line=(7,))
    any_league.void(9)
    bot, other = any_league.bots[:2]
    found = any_league.database.read(
        lambda connection: ladders.head_to_head(connection, any_league.ladder_id, bot, other)
    )
    assert found == HeadToHead(as_black=Score(3, 1, 1), as_white=Score(1, 1, 1))


def test_unknown_ids_are_named(any_league: "League") -> None:
    """Ladder and bot are looked up before anything else."""
    database, ladder_id, bot_id = any_league.database, any_league.ladder_id, any_league.bots[0]
    with pytest.raises(UnknownLadderError, match="no ladder has the id 999"):
        database.read(lambda connection: ladders.is_dirty(connection, LadderId(999)))
    with pytest.raises(UnknownLadderError, match="no ladder has the id 999"):
        database.read(lambda connection: ladders.standings(connection, LadderId(999)))
    with pytest.raises(UnknownBotError, match="no bot has the id 999"):
        database.read(
            lambda connection: ladders.head_to_head(connection, ladder_id, bot_id, BotId(999))
        )
    with pytest.raises(UnknownBotError, match="no bot has the id 999"):
        database.read(lambda connection: ladders.rating_history(connection, ladder_id, BotId(999)))

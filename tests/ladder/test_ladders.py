"""The ladder's queries, on SQLite and PostgreSQL."""

import hashlib
import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import Connection, func, select

from meijin.game import Result
from meijin.store import Database, ladders
from meijin.store.ladders import (
    FaultCount,
    HeadToHead,
    LadderSummary,
    NewRating,
    NewRun,
    PairCount,
    UnknownBotError,
    UnknownLadderError,
)
from meijin.store.tables import BotId, GameState, Ladder, LadderId, Rating, RatingRun

if TYPE_CHECKING:
    from tests.ladder.conftest import League

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
BLACK, WHITE, DRAW = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW


def run_of(league: "League", revision: int, *, elo: float = 1500.0) -> NewRun:
    """A made-up run in which everybody has a rating, the first bot the best."""
    return NewRun(
        ladder_id=league.ladder_id,
        revision=revision,
        games=revision,
        checksum=f"{revision:064}",
        algorithm="made-up",
        parameters={"advantage": 12.5},
        create_time=NOON + timedelta(minutes=revision),
        ratings=[
            NewRating(
                version_id=version,
                rank=rank,
                elo=elo - rank,
                classic_elo=1500.25,
                games=6,
                wins=3,
                draws=2,
                losses=1,
                faults=1,
            )
            for rank, version in enumerate(league.versions, start=1)
        ],
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


def test_pairs_are_counted_by_colours_and_result(any_league: "League") -> None:
    """Rows are sorted, and wins and losses are black's."""
    any_league.finish((1, 0, BLACK), (0, 1, BLACK), (0, 1, BLACK), (0, 1, WHITE), (0, 1, DRAW))
    first, second = any_league.versions[:2]
    found = any_league.database.read(
        lambda connection: ladders.pair_counts(connection, any_league.ladder_id)
    )
    assert found == [
        PairCount(first, second, wins=2, draws=1, losses=1),
        PairCount(second, first, wins=1, draws=0, losses=0),
    ]
    assert [pair.games for pair in found] == [4, 1]


def test_results_come_in_the_order_of_their_ends(any_league: "League") -> None:
    """Each is black, white and black's points."""
    any_league.finish((2, 0, WHITE), (0, 1, DRAW))
    any_league.finish((1, 2, BLACK))
    a, b, c = any_league.versions[:3]
    found = any_league.database.read(
        lambda connection: ladders.results_in_order(connection, any_league.ladder_id)
    )
    assert found == [(c, a, 0.0), (a, b, 0.5), (b, c, 1.0)]


def test_forfeits_are_counted_for_the_loser(any_league: "League") -> None:
    """Losses on the board are no faults."""
    any_league.finish((0, 1, BLACK), (1, 2, WHITE))
    any_league.finish((0, 1, BLACK), (1, 2, WHITE), (2, 0, BLACK), forfeit=True)
    a, b, _ = any_league.versions[:3]
    found = any_league.database.read(
        lambda connection: ladders.fault_counts(connection, any_league.ladder_id)
    )
    assert found == [FaultCount(a, 1), FaultCount(b, 2)]


@pytest.mark.parametrize("state", [GameState.RUNNING, GameState.VOID])
def test_other_games_do_not_count(
    any_league: "League", make_league: "type[League]", state: GameState
) -> None:
    """Running and void games, and other ladders' games, are in no snapshot."""
    other = make_league(any_league.database, name="standard-15x15")
    other.finish((0, 1, BLACK), forfeit=True)
    any_league.add_unrated(state)
    found = any_league.database.read(
        lambda connection: ladders.snapshot(connection, any_league.ladder_id)
    )
    assert (found.pair_counts, found.results, found.fault_counts) == ([], [], [])
    assert found.games == 0


def test_a_checksum_can_be_made_by_hand(any_league: "League") -> None:
    """It is the SHA-256 of lines of numbers."""
    any_league.finish((1, 0, DRAW))
    any_league.finish((0, 1, BLACK), forfeit=True)
    a, b = any_league.versions[:2]
    lines = f"{a} {b} 1 0 0\n{b} {a} 0 1 0\n{b} {a} 0.5\n{a} {b} 1.0\n{b} 1\n"
    found = any_league.database.read(
        lambda connection: ladders.snapshot(connection, any_league.ladder_id)
    )
    assert found.checksum == hashlib.sha256(lines.encode()).hexdigest()
    assert (found.name, found.revision, found.games) == ("freestyle-15x15", 2, 2)


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
    found = any_league.database.read(
        lambda connection: ladders.standings(connection, any_league.ladder_id)
    )
    assert found.run is not None
    assert found.run.revision == 2
    assert found.standings[0].elo == 1499.0


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
    found = any_league.database.read(
        lambda connection: ladders.standings(connection, any_league.ladder_id)
    )
    assert found.standings == []


def test_standings_name_bots_and_versions(any_league: "League") -> None:
    """The published lines, best first, with the run that they are from."""
    any_league.finish((0, 1, BLACK))
    any_league.renew(0, "2.0")
    publish(any_league, run_of(any_league, 1))
    found = any_league.database.read(
        lambda connection: ladders.standings(connection, any_league.ladder_id)
    )
    assert found.ladder == LadderSummary(any_league.ladder_id, "freestyle-15x15", 1, True)  # noqa: FBT003
    assert found.run is not None
    assert (found.run.revision, found.run.games) == (1, 1)
    assert found.run.parameters == {"advantage": 12.5}
    assert found.run.create_time == NOON + timedelta(minutes=1)
    assert [line.rank for line in found.standings] == [1, 2, 3, 4, 5]
    best = found.standings[0]
    assert (best.bot, best.version) == ("freestyle-15x15-bot-0", "2.0")
    assert (best.bot_id, best.version_id) == (any_league.bots[0], any_league.versions[0])
    assert (best.elo, best.classic_elo, best.faults) == (1499.0, 1500.25, 1)
    assert (best.games, best.wins, best.draws, best.losses) == (6, 3, 2, 1)


def test_standings_before_the_first_run_are_empty(any_league: "League") -> None:
    """A ladder without a run has no lines."""
    any_league.finish((0, 1, BLACK))
    found = any_league.database.read(
        lambda connection: ladders.standings(connection, any_league.ladder_id)
    )
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
    """Each run has a line for each version of the bot, the newest version first."""
    publish(any_league, run_of(any_league, 1))
    old = any_league.versions[0]
    new = any_league.renew(0, "2.0")
    any_league.versions.append(old)
    publish(any_league, run_of(any_league, 2))
    publish(any_league, run_of(any_league, 3))
    database, ladder_id, bot_id = any_league.database, any_league.ladder_id, any_league.bots[0]
    whole = database.read(lambda connection: ladders.rating_history(connection, ladder_id, bot_id))
    lines = [(past.run.revision, past.standing.version_id) for past in whole]
    assert lines == [(3, new), (3, old), (2, new), (2, old), (1, old)]
    last = whole[2]
    rest = database.read(
        lambda connection: ladders.rating_history(
            connection, ladder_id, bot_id, limit=1, before=(last.run.id, last.standing.version_id)
        )
    )
    assert rest == whole[3:4]


def test_head_to_head_counts_all_versions(any_league: "League") -> None:
    """From the bot's side, by its colour."""
    any_league.finish((0, 1, BLACK), (0, 1, DRAW), (1, 0, BLACK), (0, 2, WHITE))
    any_league.renew(0, "2.0")
    any_league.renew(1, "2.0")
    any_league.finish((0, 1, BLACK), (0, 1, WHITE), (1, 0, WHITE), (1, 0, DRAW))
    bot, other = any_league.bots[:2]
    found = any_league.database.read(
        lambda connection: ladders.head_to_head(connection, any_league.ladder_id, bot, other)
    )
    assert found == HeadToHead(
        wins_as_black=2,
        draws_as_black=1,
        losses_as_black=1,
        wins_as_white=1,
        draws_as_white=1,
        losses_as_white=1,
    )


def test_unknown_ids_are_named(any_league: "League") -> None:
    """Ladder and bot are looked up before anything else."""
    database, ladder_id, bot_id = any_league.database, any_league.ladder_id, any_league.bots[0]
    with pytest.raises(UnknownLadderError, match="no ladder has the id 999"):
        database.read(lambda connection: ladders.snapshot(connection, LadderId(999)))
    with pytest.raises(UnknownLadderError, match="no ladder has the id 999"):
        database.read(lambda connection: ladders.standings(connection, LadderId(999)))
    with pytest.raises(UnknownBotError, match="no bot has the id 999"):
        database.read(
            lambda connection: ladders.head_to_head(connection, ladder_id, bot_id, BotId(999))
        )
    with pytest.raises(UnknownBotError, match="no bot has the id 999"):
        database.read(lambda connection: ladders.rating_history(connection, ladder_id, BotId(999)))


def test_a_snapshot_is_of_one_instant(any_league: "League") -> None:
    """Games that finish while it is read are in none of its parts."""
    any_league.finish((0, 1, BLACK))

    def read(connection: Connection) -> ladders.Snapshot:
        connection.execute(select(Ladder.id)).all()
        any_league.finish((1, 0, BLACK), forfeit=True)
        return ladders.snapshot(connection, any_league.ladder_id)

    found = any_league.database.read(read)
    assert (found.revision, found.games, len(found.pair_counts)) == (1, 1, 1)
    assert found.fault_counts == []

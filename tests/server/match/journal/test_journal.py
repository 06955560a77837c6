"""Collect, commit, send: against a real store that fails when it is told to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError
from structlog.testing import capture_logs

from meijin.game import Ending, Party, Result
from meijin.server.match.arbiter.stalls import StallWatch
from meijin.server.match.journal import group_commit
from meijin.server.match.journal.group_commit import Batch
from meijin.server.match.journal.journal import Journal
from meijin.server.match.live.store_watch import StoreWatch
from meijin.store import Database, Writer
from meijin.store.journal import GameEnd, LostUpdateError, unpack_moves
from meijin.store.schema import EntryId, GameId, JournalRow, PairingId, TournamentId
from meijin.store.voids import GameVoid

if TYPE_CHECKING:
    from tests.conftest import PostgreSQL

    from meijin.server.match.live.live_game import LiveGame

PATIENCE = 20.0
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


def game(number: int) -> LiveGame:
    """A game as far as the journal looks at one that moves."""
    arbiter = SimpleNamespace(raw_ns=[0], charged_ns=[0])
    fake = SimpleNamespace(id=GameId(number), segment=None, arbiter=arbiter)
    return cast("LiveGame", fake)


class Desk:
    """A journal with its store, and what it has told."""

    def __init__(self, database: Database, writer: Writer, last: int = 0) -> None:
        self.database = database
        self.writer = writer
        self.told: list[int] = []
        """The numbers of the moves that were released, in order."""
        self.stored_when_told: list[list[int]] = []
        self.again: Callable[[], None] = lambda: None
        self.store_watch = StoreWatch(StallWatch())
        self.journal = Journal(
            writer, database.fence, self.store_watch, last_entry=EntryId(last), last_end=0
        )

    def add(self, number: int) -> None:
        """Add a move, told by its number."""
        self.journal.add_moves([(game(number), 0, 0)])

    def stored(self) -> list[int]:
        """The numbers of the stored moves, in order."""
        rows = self.database.read(
            lambda at: list(at.scalars(select(JournalRow.moves).order_by(JournalRow.id)))
        )
        return [move.game_id for moves in rows for move in unpack_moves(moves)]

    def ids(self) -> list[int]:
        """The numbers of the stored entries."""
        return self.database.read(
            lambda at: list(at.scalars(select(JournalRow.id).order_by(JournalRow.id)))
        )

    def _release(self, batch: Batch) -> None:
        self.told += [one.id for one in batch.moved]
        self.stored_when_told.append(self.stored())
        self.again()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the journal beside the block; what ends the journal ends the block."""
        async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as tasks:
            (commits,) = self.journal.tasks(self._release, [game(1)])
            running = tasks.create_task(commits)
            yield
            running.cancel()


@pytest.fixture
def desk(tmp_path: Any) -> Iterator[Desk]:
    """A desk on a store of its own."""
    with Database(f"sqlite:///{tmp_path / 'meijin.db'}") as database:
        database.migrate()
        writer = Writer(database)
        yield Desk(database, writer)
        writer.close()


@pytest.fixture
def trouble(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the next commits do, first come first served: ``fail``, or ``lose`` their answer."""
    monkeypatch.setattr(group_commit, "FIRST_RETRY", timedelta(milliseconds=1))
    monkeypatch.setattr(group_commit, "LAST_RETRY", timedelta(milliseconds=2))
    troubles: list[str] = []
    dialect = desk.database.writer.dialect
    commit, error = dialect.do_commit, dialect.loaded_dbapi.OperationalError

    def do_commit(connection: Any) -> None:
        trouble = troubles.pop(0) if troubles else "none"
        if trouble == "fail":
            raise error("disk full")
        commit(connection)
        if trouble == "lose":
            raise error("answer lost")

    monkeypatch.setattr(dialect, "do_commit", do_commit)
    return troubles


async def test_nothing_is_told_before_it_is_committed(desk: Desk) -> None:
    """Whatever is released is in the store already."""
    async with desk.running():
        for number in range(20):
            desk.add(number)
            if number % 3 == 0:
                await desk.journal.drained()
        await desk.journal.drained()
    assert desk.told == list(range(20))
    assert all(
        stored == desk.told[: len(stored)] and len(stored) >= told
        for told, stored in enumerate(desk.stored_when_told, start=1)
    )
    assert desk.stored() == desk.told


async def test_what_comes_together_is_committed_together(desk: Desk) -> None:
    """One entry holds everything that was added before it began."""
    async with desk.running():
        for number in range(10):
            desk.add(number)
        await desk.journal.drained()
    assert desk.ids() == [1]


async def test_numbers_go_on_from_the_last(tmp_path: Any) -> None:
    """A restarted server's entries follow those of the one before."""
    with Database(f"sqlite:///{tmp_path / 'meijin.db'}") as database:
        database.migrate()
        writer = Writer(database)
        desk = Desk(database, writer, last=41)
        async with desk.running():
            desk.add(1)
            await desk.journal.drained()
        assert desk.ids() == [42]
        writer.close()


async def test_an_empty_entry_is_not_stored(desk: Desk) -> None:
    """A bot that sends nothing of consequence makes the store no larger."""
    async with desk.running():
        for _ in range(5):
            await desk.journal.drained()
        desk.add(1)
        await desk.journal.drained()
    assert len(desk.ids()) == 1
    assert desk.told == [1]


@pytest.mark.parametrize("what", ["fail", "lose"])
@pytest.mark.parametrize("times", [1, 4])
async def test_a_failing_store_is_tried_again(
    desk: Desk, trouble: list[str], what: str, times: int
) -> None:
    """Nothing is lost, nothing is told early, and nothing is stored twice."""
    trouble += [what] * times
    with capture_logs() as logs:
        async with desk.running():
            desk.add(1)
            await asyncio.sleep(0)
            desk.add(2)
            await desk.journal.drained()
            desk.add(3)
            await desk.journal.drained()
    assert desk.stored() == desk.told == [1, 2, 3]
    assert desk.stored_when_told[0]
    assert trouble == []
    assert not desk.store_watch.is_away
    events = [entry["event"] for entry in logs]
    assert events[0] == "the database fails; games wait"
    assert events[-1] == "the database is back"


async def test_other_work_has_no_part_in_an_entrys_trouble(desk: Desk, trouble: list[str]) -> None:
    """It waited for longer, and comes after: neither is written again for the other's sake."""
    async with desk.running():
        gate = asyncio.get_running_loop().create_future()
        started = asyncio.Event()
        loop = asyncio.get_running_loop()

        def hold(_connection: Any) -> None:
            loop.call_soon_threadsafe(started.set)
            asyncio.run_coroutine_threadsafe(_wait(gate), loop).result(PATIENCE)

        held = desk.writer.submit(hold)
        await started.wait()
        other = desk.writer.submit(lambda _: None)
        desk.add(1)
        while desk.writer._queue.qsize() < 2:  # noqa: ASYNC110 - a queue of threads has no event
            await asyncio.sleep(0)
        trouble[:] = ["none", "lose"]
        gate.set_result(None)
        await asyncio.wrap_future(held)
        await desk.journal.drained()
        await asyncio.wrap_future(other)
    assert desk.stored() == desk.told == [1]
    assert trouble == []


async def _wait(future: asyncio.Future[None]) -> None:
    await future


async def test_a_database_that_was_restarted_is_waited_for(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL may crash at any time: nothing is lost and nothing is doubled."""
    monkeypatch.setattr(group_commit, "FIRST_RETRY", timedelta(milliseconds=50))
    server: PostgreSQL = request.getfixturevalue("postgresql")
    with Database(server.new_database()) as database, database.claim():
        database.migrate()
        writer = Writer(database)
        desk = Desk(database, writer)
        async with desk.running():
            desk.add(1)
            await desk.journal.drained()
            for number in (2, 3):
                server.stop("immediate")
                desk.add(number)
                while not desk.store_watch.is_away:  # noqa: ASYNC110 - a flag has no event
                    await asyncio.sleep(0.001)
                assert desk.told == list(range(1, number))
                server.start()
                await desk.journal.drained()
        assert desk.stored() == desk.told == [1, 2, 3]
        writer.close()


async def test_the_store_fails_for_the_eyes_of_others(desk: Desk, trouble: list[str]) -> None:
    """While commits fail the store's watch says so."""
    seen: list[bool] = []
    trouble += ["fail"] * 3
    watch = desk.store_watch
    async with desk.running():
        desk.add(1)
        while trouble:
            seen.append(watch.is_away)
            await asyncio.sleep(0)
        await desk.journal.drained()
        seen.append(watch.is_away)
    assert True in seen
    assert not seen[-1]


async def test_another_servers_entry_ends_the_journal(desk: Desk) -> None:
    """A number that is taken is no passing trouble: two servers share the store."""
    desk.database.write(
        lambda to: to.execute(insert(JournalRow), {"epoch": 0, "id": 1, "moves": b""})
    )
    with pytest.RaisesGroup(IntegrityError):
        async with desk.running():
            desk.add(1)
            await desk.journal.drained()
    assert desk.told == []


async def test_a_lost_game_ends_the_journal(desk: Desk) -> None:
    """A game that is not running in the store can't be ended, now or later."""
    end = GameEnd(
        id=GameId(9),
        pairing_id=PairingId(9),
        tournament_id=TournamentId(9),
        sequence=1,
        moves=b"",
        times=b"",
        analysis=None,
        result=Result.DRAW,
        ending=Ending.DRAW,
        at_fault=Party.NOBODY,
        detail="",
        time=NOON,
        fault_version_id=None,
        evidence={},
        fingerprint=0,
    )
    ended = cast(
        "LiveGame", SimpleNamespace(to_end=lambda sequence: replace(end, sequence=sequence))
    )
    with pytest.RaisesGroup(LostUpdateError):
        async with desk.running():
            desk.journal.add_end(ended)
            await desk.journal.drained()


async def test_a_lost_void_ends_the_journal(desk: Desk) -> None:
    """A game that is not finished in the store can't be voided, now or later."""
    with pytest.RaisesGroup(LostUpdateError):
        async with desk.running():
            desk.journal.add_void(GameVoid(GameId(9), "why", NOON))
            await desk.journal.drained()


async def test_drained_comes_to_an_end_on_a_busy_server(desk: Desk) -> None:
    """It waits for what was added before, not for what comes all the time."""
    numbers = iter(range(2, 1_000_000))
    desk.again = lambda: desk.add(next(numbers))
    async with desk.running():
        desk.add(1)
        await desk.journal.drained()
        assert 1 in desk.told


async def test_an_idle_journal_is_drained(desk: Desk) -> None:
    """There is nothing to wait for."""
    async with desk.running():
        await desk.journal.drained()
    assert desk.ids() == []

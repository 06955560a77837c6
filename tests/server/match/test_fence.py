"""A server that was replaced by another: it stores nothing any more, and tells nobody anything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from sqlalchemy import delete, select, text

from meijin.server.match.journal.group_commit import Batch
from meijin.server.match.journal.journal import Journal
from meijin.store import Database, Writer, bots
from meijin.store.database import database_file
from meijin.store.errors import FencedError, LostCommitsError
from meijin.store.journal import unpack_moves
from meijin.store.schema import EntryId, GameId, JournalRow

if TYPE_CHECKING:
    from meijin.server.match.live.live_game import LiveGame
from meijin.server.match.arbiter.stalls import StallWatch
from meijin.server.match.live.store_watch import StoreWatch

PATIENCE = 20.0
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


def game(number: int) -> LiveGame:
    """A game as far as the journal looks at one that moves."""
    arbiter = SimpleNamespace(raw_ns=[0], charged_ns=[0])
    fake = SimpleNamespace(id=GameId(number), segment=None, arbiter=arbiter)
    return cast("LiveGame", fake)


class Owner:
    """A server as far as the store knows it: a claim, a writer and a journal."""

    def __init__(self, database: Database, writer: Writer, last: int) -> None:
        self.database = database
        self.told: list[int] = []
        """The numbers of the moves that were released, in order."""
        store_watch = StoreWatch(StallWatch())
        self.journal = Journal(
            writer, database.fence, store_watch, last_entry=EntryId(last), last_end=0
        )

    async def commit(self, number: int) -> None:
        """Add a move, and wait until it is told of."""
        self.journal.add_moves([(game(number), 0, 0)])
        await self.journal.drained()

    def release(self, batch: Batch) -> None:
        """Tell of a batch."""
        self.told += [one.id for one in batch.moved]


@asynccontextmanager
async def owning(url: str, *, last: int = 0) -> AsyncIterator[Owner]:
    """Own a database as a server does; what ends the journal ends the block."""
    with Database(url) as database, database.claim():
        database.migrate()
        database.fence.claim()
        writer = Writer(database)
        owner = Owner(database, writer, last)
        try:
            async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as tasks:
                (commits,) = owner.journal.tasks(owner.release, [game(1)])
                running = tasks.create_task(commits)
                yield owner
                running.cancel()
        finally:
            writer.close()


def stored(url: str) -> list[int]:
    """The numbers of the stored moves, in order."""
    query = select(JournalRow.moves).order_by(JournalRow.epoch, JournalRow.id)
    with Database(url) as database:
        entries = database.read(lambda at: at.scalars(query).all())
    return [move.game_id for moves in entries for move in unpack_moves(moves)]


def end_sessions(url: str) -> None:
    """End all other sessions of a PostgreSQL database, as a network that breaks does."""
    others = text(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    with Database(url) as database:
        database.read(lambda at: at.execute(others).all())


def replace_lock(url: str) -> None:
    """Remove the file with the lock: its holder doesn't notice, and the next one makes another."""
    path = database_file(url)
    assert path is not None
    Path(f"{path}.lock").unlink()


def lose_claim(url: str) -> None:
    """Have the owner of the database lose it without noticing."""
    if database_file(url) is None:
        end_sessions(url)
    else:
        replace_lock(url)


@pytest.mark.parametrize("entries", [1, 3])
async def test_an_owner_that_was_replaced_tells_nothing(
    any_database_url: str, entries: int
) -> None:
    """The other one has come and gone, with entries of the same numbers: they are not its own."""
    with pytest.RaisesGroup(pytest.RaisesExc(FencedError, match="epoch 2, this one's was 1")):
        async with owning(any_database_url) as first:
            await first.commit(1)
            lose_claim(any_database_url)
            async with owning(any_database_url, last=1) as second:
                for number in range(100, 100 + entries):
                    await second.commit(number)
            await first.commit(2)
    assert first.told == [1]
    assert second.told == stored(any_database_url)[1:] == list(range(100, 100 + entries))


async def test_an_owner_that_is_being_replaced_does_not_wait(any_database_url: str) -> None:
    """While the other one holds the lock it is told that it was replaced, and ends."""
    async with AsyncExitStack() as stack:
        with pytest.RaisesGroup(FencedError):
            async with owning(any_database_url) as first:
                await first.commit(1)
                lose_claim(any_database_url)
                second = await stack.enter_async_context(owning(any_database_url, last=1))
                await first.commit(2)
        await second.commit(100)
    assert first.told == [1]
    assert stored(any_database_url) == [1, 100]


async def test_an_owner_that_lost_its_session_alone_goes_on(any_database_url: str) -> None:
    """Nobody came in between: it holds the lock again, and finds its own entries."""
    async with owning(any_database_url) as owner:
        await owner.commit(1)
        lose_claim(any_database_url)
        await owner.commit(2)
    assert owner.told == stored(any_database_url) == [1, 2]


async def test_a_database_that_lost_commits_is_written_no_more(any_database_url: str) -> None:
    """It was restored from a backup, or its standby was behind: the bots have heard of more."""
    words = "entry 2 of the journal was, and the newest is 1"
    with pytest.RaisesGroup(pytest.RaisesExc(LostCommitsError, match=words)):
        async with owning(any_database_url) as owner:
            await owner.commit(1)
            await owner.commit(2)
            with Database(any_database_url) as other:
                other.write(lambda to: to.execute(delete(JournalRow).where(JournalRow.id == 2)))
            lose_claim(any_database_url)
            await owner.commit(3)
    assert owner.told == [1, 2]
    assert stored(any_database_url) == [1]


async def test_other_writers_do_not_disturb_the_owner(any_database_url: str) -> None:
    """A worker that publishes a run writes too, and claims nothing."""
    async with owning(any_database_url) as owner:
        await owner.commit(1)
        with Database(any_database_url) as other:
            other.write(lambda to: bots.add_bot(to, "ada", NOON))
        await owner.commit(2)
    assert owner.told == [1, 2]

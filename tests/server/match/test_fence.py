"""A server that was replaced by another: it stores nothing any more, and tells nobody anything."""

from __future__ import annotations

from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import delete, text
from tests.server.match.journal.desk import owning, stored

from meijin.store import Database, bots
from meijin.store.database import database_file
from meijin.store.errors import FencedError, LostCommitsError
from meijin.store.schema import JournalRow

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


def stored_at(url: str) -> list[int]:
    with Database(url) as database:
        return stored(database)


def lose_claim(url: str) -> None:
    """Have the owner of the database lose it without noticing.

    The file with its lock is removed, so that the next one makes another; or, on PostgreSQL, all
    other sessions are ended, as a network that breaks does.
    """
    path = database_file(url)
    if path is not None:
        Path(f"{path}.lock").unlink()
        return
    others = text(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    with Database(url) as database:
        database.read(lambda at: at.execute(others).all())


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
    assert second.told == stored_at(any_database_url)[1:] == list(range(100, 100 + entries))


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
    assert stored_at(any_database_url) == [1, 100]


async def test_an_owner_that_lost_its_session_alone_goes_on(any_database_url: str) -> None:
    """Nobody came in between: it holds the lock again, and finds its own entries."""
    async with owning(any_database_url) as owner:
        await owner.commit(1)
        lose_claim(any_database_url)
        await owner.commit(2)
    assert owner.told == stored_at(any_database_url) == [1, 2]


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
    assert stored_at(any_database_url) == [1]


async def test_other_writers_do_not_disturb_the_owner(any_database_url: str) -> None:
    """A worker that publishes a run writes too, and claims nothing."""
    async with owning(any_database_url) as owner:
        await owner.commit(1)
        with Database(any_database_url) as other:
            other.write(lambda to: bots.add_bot(to, "ada", NOON))
        await owner.commit(2)
    assert owner.told == [1, 2]

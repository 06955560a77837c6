"""A journal over a store, and what it has told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from sqlalchemy import select
from tests.conftest import PATIENCE
from tests.server.rows import live_game

from meijin.server.match.journal.group_commit import Batch
from meijin.server.match.journal.journal import Journal
from meijin.server.match.live.store_watch import StoreWatch
from meijin.server.match.stalls import StallWatch
from meijin.store import Database, Writer
from meijin.store.journal import unpack_moves
from meijin.store.schema import EntryId, JournalRow


class Desk:
    """A server as far as the store knows it."""

    def __init__(self, database: Database, writer: Writer, last: int = 0) -> None:
        self.database = database
        self.writer = writer
        self.told: list[int] = []
        """The numbers of the moves that were released, in order."""
        self.stored_when_told: list[list[int]] = []
        """What was stored at each release."""
        self.again: Callable[[], None] = lambda: None
        """Called at each release."""
        self.store_watch = StoreWatch(StallWatch())
        self.journal = Journal(
            writer, database.fence, self.store_watch, last_entry=EntryId(last), last_end=0
        )

    def add(self, *numbers: int) -> None:
        for number in numbers:
            game = live_game(number)
            game.arbiter.replay(0, raw_ns=0, charged_ns=0)
            self.journal.add_moves([(game, 0, 0)])

    async def commit(self, *numbers: int) -> None:
        self.add(*numbers)
        await self.journal.drained()

    def release(self, batch: Batch) -> None:
        self.told += [one.id for one in batch.moved]
        self.stored_when_told.append(stored(self.database))
        self.again()

    def ids(self) -> list[int]:
        query = select(JournalRow.id).order_by(JournalRow.id)
        return self.database.read(lambda at: list(at.scalars(query)))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the journal beside the block; what ends the journal ends the block."""
        async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as tasks:
            (commits,) = self.journal.tasks(self.release, [live_game()])
            running = tasks.create_task(commits)
            yield
            running.cancel()


def stored(database: Database) -> list[int]:
    """The numbers of the moves that are stored, in order."""
    query = select(JournalRow.moves).order_by(JournalRow.epoch, JournalRow.id)
    entries = database.read(lambda at: at.scalars(query).all())
    return [move.game_id for moves in entries for move in unpack_moves(moves)]


@asynccontextmanager
async def owning(url: str, *, last: int = 0) -> AsyncIterator[Desk]:
    """Own a database as a server does; what ends the journal ends the block."""
    with Database(url) as database, database.claim():
        database.migrate()
        database.fence.claim()
        writer = Writer(database)
        desk = Desk(database, writer, last)
        try:
            async with desk.running():
                yield desk
        finally:
            writer.close()

"""Commits to the database: a transaction for each entry, on the writer's thread."""

import asyncio
from collections.abc import Collection
from concurrent.futures import Future
from datetime import timedelta
from functools import partial

from sqlalchemy.exc import DBAPIError

from meijin.server.match.journal.compaction import Compaction
from meijin.server.match.journal.group_commit import CommitWatch, GroupCommit, retry_delays
from meijin.server.match.live.live_game import LiveGame
from meijin.server.match.live.store_watch import StoreRequest, StoreWatch
from meijin.store import Writer
from meijin.store.database import is_unavailable
from meijin.store.fence import Fence
from meijin.store.journal import JournalEntry, commit_entry
from meijin.store.schema import EntryId

COLLECTION_TIME = timedelta(milliseconds=1)
"""The longest that an entry waits for news of the games that it has none of.

An entry costs as much as judging a hundred moves, whatever it holds. With two bots in 256
games every other entry was of two or three late moves, and cost a third of the moves a second.
"""

PAUSE, PAUSE_A_GAME = timedelta(milliseconds=5), timedelta(microseconds=20)
"""How long starts and ends wait for others, where the moves have a log of their own: at most, and
for each game that is played. Nobody's move waits for them."""

ENTRIES_PER_TRUNCATION = 64
"""Entries without moves between two deletions of those before them."""


class StoreCommit(GroupCommit):
    """Commits entries to the database.

    Raises:
        LostUpdateError: another server writes to the same games.
        LostOwnershipError: another server has claimed the database, or it lost commits.
    """

    def __init__(
        self,
        writer: Writer,
        fence: Fence,
        store_watch: StoreWatch,
        watch: CommitWatch,
        *,
        first_entry: EntryId,
        compaction: Compaction | None,
    ) -> None:
        super().__init__(fence, watch, first_entry=first_entry, compaction=compaction)
        self._writer = writer
        self._store_watch = store_watch

    async def collect(self, running: Collection[LiveGame]) -> None:
        """Wait a moment for news of every running game, or for others that start and end."""
        if self._compaction is not None:
            await self.wait_for(COLLECTION_TIME, lambda: self.batch.games >= len(running))
        else:
            pause = min(PAUSE, len(running) * PAUSE_A_GAME)
            await self.wait_for(pause, lambda: len(running) <= self.batch.games)

    async def commit(self, entry: JournalEntry) -> None:
        """Commit an entry, and where it holds no moves have those before it deleted now and then."""
        if self._compaction is None and not entry.id % ENTRIES_PER_TRUNCATION:
            entry.truncate_before = entry.key
        with self._store_watch.write() as request:
            await self._commit(entry, request)
        self._fence.acknowledge(entry.id)

    async def _commit(self, entry: JournalEntry, request: StoreRequest) -> None:
        """Commit the entry, trying again for as long as the database fails.

        A commit whose answer was lost is found by the entry's epoch and id, so it
        can't happen twice. Nobody's clock runs for an answer that waits here.
        """
        commit = partial(commit_entry, entry=entry)
        for delay in retry_delays():
            try:
                await _done(self._writer.submit(commit, is_urgent=True))
            except DBAPIError as error:
                if not error.connection_invalidated and not is_unavailable(error):
                    raise
                self._store_watch.fail(request, str(error.orig))
                commit = partial(commit_entry, entry=entry, is_retry=True)
                await asyncio.sleep(delay)
            else:
                return


async def _done(work: Future[None]) -> None:
    """Wait for work of another thread: half the price of `asyncio.wrap_future`."""
    loop = asyncio.get_running_loop()
    done = asyncio.Event()
    work.add_done_callback(lambda _: loop.call_soon_threadsafe(done.set))
    await done.wait()
    work.result()

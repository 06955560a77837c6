"""Commits to the move log: one write for each entry, and where it has to be on the disk, a wait."""

import asyncio
from collections.abc import Collection
from datetime import timedelta

from meijin.server.match.journal.compaction import Compaction
from meijin.server.match.journal.group_commit import CommitWatch, GroupCommit, retry_delays
from meijin.server.match.journal.log_sync import LogSync
from meijin.server.match.live_game import LiveGame
from meijin.server.match.store_watch import StoreWatch
from meijin.store.fence import Fence
from meijin.store.journal import JournalEntry
from meijin.store.move_log import LogEntry, MoveLog
from meijin.store.schema import EntryId

COLLECTION_TIME = timedelta(milliseconds=1)
"""The longest that an entry which waits for the disk waits for news of other games first.

Without it 16 games have 0.85 of the rate, in messages that are smaller by a third.
"""

ENOUGH_GAMES = 128
"""An entry with news of so many games waits for no others: with 1,024 games, which take 20 ms to be
judged, waiting for all costs a fifth of the rate."""

COLLECTION_TURNS = 3
"""An entry that waits for no disk waits for so many turns of the event loop: what was read
meanwhile goes with it. 16 and 64 games have 1.2 times the rate, in messages that are larger by two
thirds, and a lone game waits for nobody.
"""


class LogCommit(GroupCommit):
    """Commits entries of moves to a log.

    The write is made on the event loop: it takes 10 microseconds, and a change of thread 60.
    """

    def __init__(
        self,
        log: MoveLog,
        compaction: Compaction,
        fence: Fence,
        store_watch: StoreWatch,
        watch: CommitWatch,
    ) -> None:
        first_entry = EntryId(log.last_entry + 1)
        super().__init__(fence, watch, first_entry=first_entry, compaction=compaction)
        self._log = log
        self._store_watch = store_watch
        self._sync = LogSync(log) if log.is_synced else None
        self.silent_games = 0
        """Running games of which no news can come: their starts are not told yet."""

    async def collect(self, running: Collection[LiveGame]) -> None:
        """Wait for news of the games that are asked: longer where the disk has to be waited for."""

        def is_complete() -> bool:
            return self.batch.games >= min(len(running) - self.silent_games, ENOUGH_GAMES)

        if self._sync is not None:
            await self.wait_for(COLLECTION_TIME, is_complete)
            return
        for _ in range(COLLECTION_TURNS):
            if is_complete():
                return
            await asyncio.sleep(0)

    async def commit(self, entry: JournalEntry) -> None:
        """Commit an entry, and delete what holds no move of a running game any more."""
        logged = LogEntry(entry.id, entry.moves, entry.analysis)
        if self._sync is None:
            try:
                self._log.append(logged)
            except OSError as error:
                await self._append_again(logged, error)
        else:
            await self._append_again(logged)
        if entry.truncate_before is not None:
            self._log.delete_before(entry.truncate_before.id)

    async def _append_again(self, entry: LogEntry, error: OSError | None = None) -> None:
        """Append an entry, trying again after an error, for as long as the disk fails."""
        delays = retry_delays()
        with self._store_watch.owed() as request:
            while True:
                if error is not None:
                    self._store_watch.fail(request, f"the move log: {error.strerror}")
                    await asyncio.sleep(next(delays))
                try:
                    return await self._append(entry)
                except OSError as found:
                    error = found

    async def _append(self, entry: LogEntry) -> None:
        self._log.append(entry)
        if self._sync is not None:
            await self._sync.wait()

    def close(self) -> None:
        """Wait for the disk no more."""
        if self._sync is not None:
            self._sync.close()

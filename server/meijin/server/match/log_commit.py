"""Commits to the move log: one write for each entry, and where it has to be on the disk, a wait."""

import asyncio
from collections.abc import Collection

from meijin.server.match.compaction import Compaction
from meijin.server.match.group_commit import FIRST_RETRY, LAST_RETRY, CommitWatch, GroupCommit
from meijin.server.match.live_game import LiveGame
from meijin.server.match.log_sync import LogSync
from meijin.server.match.store_watch import StoreWatch
from meijin.store.fence import Fence
from meijin.store.journal import JournalEntry
from meijin.store.move_log import LogEntry, MoveLog
from meijin.store.schema import EntryId


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

    async def collect(self, running: Collection[LiveGame]) -> None:
        """Wait for no more: an entry costs little, and the next one waits for the disk anyway."""

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
        delay = FIRST_RETRY
        with self._store_watch.owed() as request:
            while True:
                if error is not None:
                    self._store_watch.fail(request, f"the move log: {error.strerror}")
                    await asyncio.sleep(delay.total_seconds())
                    delay = min(2 * delay, LAST_RETRY)
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

"""The log of moves as the event loop has it: entries are committed, and old ones deleted."""

import asyncio
from collections.abc import Collection
from datetime import timedelta

from meijin.server.match.live_game import LiveGame
from meijin.server.match.log_sync import LogSync
from meijin.server.match.store_watch import StoreRequest, StoreWatch
from meijin.store.journal import JournalEntry
from meijin.store.move_log import LogEntry, MoveLog
from meijin.store.schema import EntryId

FIRST_RETRY, LAST_RETRY = timedelta(seconds=0.1), timedelta(seconds=2)
"""Between two tries to commit while the disk fails."""


class CommitLog:
    """Commits entries of moves: one write each, on the event loop, since it takes 10 microseconds.

    Where the disk is to be waited for, another thread does.
    """

    def __init__(self, log: MoveLog, store_watch: StoreWatch) -> None:
        self._log = log
        self._store_watch = store_watch
        self._sync = LogSync(log) if log.is_synced else None
        self._segments = 1

    @property
    def next_entry(self) -> EntryId:
        """The id of the first entry."""
        return EntryId(self._log.last_entry + 1)

    @property
    def is_slow(self) -> bool:
        """Whether a commit waits for the disk, so that larger ones pay."""
        return self._sync is not None

    async def commit(self, entry: JournalEntry) -> None:
        """Commit an entry, trying again for as long as the disk fails."""
        logged = LogEntry(entry.id, entry.moves, entry.analysis)
        if self._sync is None:
            try:
                self._log.append(logged)
            except OSError as error:
                with self._store_watch.owed() as request:
                    await self._retry(logged, request, error)
        else:
            with self._store_watch.owed() as request:
                try:
                    await self._write(logged)
                except OSError as error:
                    await self._retry(logged, request, error)

    async def _write(self, entry: LogEntry) -> None:
        self._log.append(entry)
        if self._sync is not None:
            await self._sync.wait()

    async def _retry(self, entry: LogEntry, request: StoreRequest, error: OSError) -> None:
        """Write an entry that could not be written, for as long as it takes."""
        delay = FIRST_RETRY
        while True:
            self._store_watch.fail(request, f"the move log: {error.strerror}")
            await asyncio.sleep(delay.total_seconds())
            delay = min(2 * delay, LAST_RETRY)
            try:
                return await self._write(entry)
            except OSError as another:
                error = another

    def truncate(self, running: Collection[LiveGame], entry_id: EntryId) -> None:
        """Delete what holds no move of a running game, when there is a segment more."""
        if self._log.segments > self._segments:
            self._log.delete_before(first_entry(running, entry_id))
            self._segments = self._log.segments

    def close(self) -> None:
        """Wait for the disk no more."""
        if self._sync is not None:
            self._sync.close()


def first_entry(running: Collection[LiveGame], current: EntryId) -> EntryId:
    """The first entry with moves of these games; the current one without games."""
    return min((game.first_entry for game in running), default=current)

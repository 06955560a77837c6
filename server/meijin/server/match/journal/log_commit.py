"""Commits to the move log: one write for each entry, and where it has to be on the disk, a wait."""

import asyncio
import os
import threading
from collections.abc import Collection, Iterable
from datetime import timedelta

import structlog

from meijin.server.match.journal.compaction import Compaction
from meijin.server.match.journal.group_commit import CommitWatch, GroupCommit, retry_delays
from meijin.server.match.live.live_game import LiveGame
from meijin.server.match.live.store_watch import StoreWatch
from meijin.store.fence import Fence
from meijin.store.journal import JournalEntry
from meijin.store.move_log.entry import LogEntry
from meijin.store.move_log.log import FIRST_ENTRY, MoveLog
from meijin.store.move_log.mark import LogMark
from meijin.store.schema import EntryId

CLOSING_TIME = timedelta(seconds=1)
"""How long the end of the thread is waited for."""

_APPEND, _SETTLE = b"a", b"s"


class LogThread:
    """Has a log's entries reach the disk, while the event loop does other things.

    A disk that hangs holds this thread alone. It and the loop wake each other by pipes: locks and
    queues of the interpreter would have either wait for the other's turn in it, three times a
    commit.
    """

    def __init__(self, log: MoveLog) -> None:
        self._log = log
        self._asked, self._ask = os.pipe()
        self._done, self._tell = os.pipe()
        self._work: tuple[LogEntry, EntryId | None, bool] | None = None
        self._error: OSError | None = None
        self._is_done = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        asyncio.get_running_loop().add_reader(self._done, self._note)
        self._thread.start()

    async def append(self, entry: LogEntry, keep_from: EntryId | None, *, renew: bool) -> None:
        """Append an entry as `MoveLog.append` does, and wait until it is on the disk.

        Raises:
            OSError: it may not be there.
        """
        self._work = entry, keep_from, renew
        os.write(self._ask, _APPEND)
        await self._is_done.wait()
        self._is_done.clear()
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _note(self) -> None:
        os.read(self._done, 1)
        self._is_done.set()

    def settle(self) -> None:
        """Have the log settled behind what was appended, and wait for nothing."""
        os.write(self._ask, _SETTLE)

    def _run(self) -> None:
        while asked := os.read(self._asked, 1):
            if asked == _APPEND:
                self._append()
            else:
                self._log.settle()

    def _append(self) -> None:
        """Append what waits, and tell the event loop."""
        assert self._work is not None
        entry, keep_from, renew = self._work
        try:
            self._log.append(entry, keep_from=keep_from, renew=renew)
            self._log.sync()
        except OSError as error:
            self._error = error
        os.write(self._tell, b"x")

    def close(self) -> None:
        """End the thread, unless the disk holds it."""
        asyncio.get_running_loop().remove_reader(self._done)
        os.close(self._ask)
        self._thread.join(CLOSING_TIME.total_seconds())
        if self._thread.is_alive():
            return
        for end in (self._asked, self._done, self._tell):
            os.close(end)


log = structlog.get_logger()

COLLECTION_TIME = timedelta(milliseconds=1)
"""The longest that an entry which waits for the disk waits for news of other games first.

Without it 16 games have 0.85 of the rate, in messages that are smaller by a third.
"""

ENOUGH_GAMES = 128
"""An entry with news of this many games waits for no others: with 1,024 games, which take 20 ms to be
judged, waiting for all costs a fifth of the rate."""

COLLECTION_TURNS = 3
"""An entry that waits for no disk waits for this many turns of the event loop: what was read
meanwhile goes with it. 16 and 64 games have 1.2 times the rate, in messages that are larger by two
thirds, and a lone game waits for nobody.
"""

SETTLING_TIME = timedelta(milliseconds=20)
"""The log is settled so long after an entry: done behind each it costs a lone game 8 % of its rate,
for it gives the interpreter away."""

LOOK_INTERVAL = timedelta(seconds=1)
"""Between two looks whether the log's newest segment still has its name."""


class LogCommit(GroupCommit):
    """Commits entries of moves to a log.

    Where nobody waits for the disk the write is made on the event loop: it takes 10 microseconds,
    and a change of thread 60.
    """

    def __init__(
        self,
        log: MoveLog,
        compaction: Compaction,
        fence: Fence,
        store_watch: StoreWatch,
        watch: CommitWatch,
    ) -> None:
        first_entry = EntryId(FIRST_ENTRY + 1)
        super().__init__(fence, watch, first_entry=first_entry, compaction=compaction)
        self._log = log
        self._moves = compaction
        self._store_watch = store_watch
        self._thread = LogThread(log) if log.is_synced else None
        self._renews = False
        """The entry that is committed holds all moves, and begins the log's files anew."""
        self._settling: asyncio.TimerHandle | None = None
        self.silent_games = 0
        """Running games of which no news can come: their starts are not told yet."""

    async def collect(self, running: Collection[LiveGame]) -> None:
        """Wait for news of the games that are asked: longer where the disk has to be waited for."""

        def is_complete() -> bool:
            return self.batch.games >= min(len(running) - self.silent_games, ENOUGH_GAMES)

        if self._thread is not None:
            await self.wait_for(COLLECTION_TIME, is_complete)
            return
        for _ in range(COLLECTION_TURNS):
            if is_complete():
                return
            await asyncio.sleep(0)

    @property
    def mark(self) -> LogMark:
        return self._log.mark

    @property
    def has_news(self) -> bool:
        return super().has_news or self._log.is_lost

    def prepare(self, entry: JournalEntry, running: Iterable[LiveGame]) -> None:
        """Have the log be kept small; one that has lost its files gets all moves once more."""
        self._renews = self._log.is_lost
        self._moves.advance(entry, running, writes_all=self._renews)

    async def commit(self, entry: JournalEntry) -> None:
        """Commit an entry, and delete what holds no move of a running game any more."""
        logged = LogEntry(entry.id, entry.moves, entry.analysis, self._fence.acknowledged)
        before = entry.truncate_before
        keep_from = None if before is None else before.id
        if self._thread is None:
            try:
                self._log.append(logged, keep_from=keep_from, renew=self._renews)
            except OSError as error:
                await self._append_again(logged, keep_from, error)
        else:
            await self._append_again(logged, keep_from)
        if self._settling is None:
            loop = asyncio.get_running_loop()
            self._settling = loop.call_later(SETTLING_TIME.total_seconds(), self._settle)

    def _settle(self) -> None:
        self._settling = None
        (self._thread or self._log).settle()

    async def _append_again(
        self, entry: LogEntry, keep_from: EntryId | None, error: OSError | None = None
    ) -> None:
        """Append an entry, trying again after an error, for as long as the disk fails."""
        delays = retry_delays()
        with self._store_watch.owed() as request:
            while True:
                if error is not None:
                    self._store_watch.fail(request, f"the move log: {error.strerror}")
                    await asyncio.sleep(next(delays))
                try:
                    return await self._append(entry, keep_from)
                except OSError as found:
                    error = found

    async def _append(self, entry: LogEntry, keep_from: EntryId | None) -> None:
        if self._thread is None:
            self._log.append(entry, keep_from=keep_from, renew=self._renews)
        else:
            await self._thread.append(entry, keep_from, renew=self._renews)

    async def watch(self) -> None:
        """See whether the log's newest segment still has its name, every second."""
        while True:
            await asyncio.sleep(LOOK_INTERVAL.total_seconds())
            if not self._log.is_lost and self._log.look():
                log.error(
                    "the log of moves has lost its files; it is written anew",
                    folder=str(self._log.folder),
                )
                self.wake()

    def close(self) -> None:
        if self._settling is not None:
            self._settling.cancel()
        if self._thread is not None:
            self._thread.close()

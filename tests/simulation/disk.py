"""A disk that fails on purpose, and what writes to it: the product's own, without its threads."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, event
from sqlalchemy.exc import OperationalError
from tests.power.calls import Calls
from tests.power.volume import PowerCut, Volume
from tests.simulation.loop import NS_PER_SECOND, SimulatedLoop

from meijin.store import Database, Durability, Writer
from meijin.store.fence import Fence
from meijin.store.move_log.entry import LogEntry
from meijin.store.move_log.log import MoveLog
from meijin.store.move_log.mark import LogMark
from meijin.store.move_log.reader import LogReader, read_log
from meijin.store.move_log.segment import log_folder
from meijin.store.schema import EntryId, Epoch
from meijin.store.writer import MAX_GROUP, _Work

P = ParamSpec("P")
T = TypeVar("T")

MS = 1_000_000


class Disk:
    """An SQLite file that outlives servers; how it takes commits is drawn, and told to it.

    The file is made and migrated once, and emptied for every world: the product's statements
    are compiled for the one engine that is kept. A power cut takes from the log beside it what was
    not synced, and nothing from the file: a commit there is durable when it returns.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "data"
        self._folder.mkdir()
        path = self._folder / "meijin.db"
        self._log_folder = log_folder(path)
        self._left = folder / "left"
        with Database(f"sqlite:///{path}", Durability.PROCESS) as database:
            database.migrate()
        self._empty = sqlite3.connect(":memory:")
        with sqlite3.connect(path) as made:
            made.backup(self._empty)
        made.close()
        self.database = SimulatedDatabase(f"sqlite:///{path}", self)
        self.reader = sqlite3.connect(path, isolation_level=None)
        """Sees what is committed, behind the server's back."""
        self._restore = sqlite3.connect(path)
        self.is_failing = False
        """It takes and gives nothing, and says so at once."""
        self.hangs_until_ns = 0
        """It answers nobody before."""
        self.loses_answers = 0.0
        """How often a commit happens whose answer is lost."""
        self.fails_commits = 0.0
        """How often a commit fails, and has not happened."""
        self.has_refused = False
        """It has lost or failed a commit since it began to."""
        self.refused: Callable[[], None] = lambda: None
        """Is called when it does so for the first time."""
        self.writer: SimulatedWriter | None = None
        """The one of the server that runs."""
        self.writer_committed: Callable[[], None] = lambda: None
        """Is called after every commit to the database."""
        self.keeps_log = True
        """Moves go to a log, as beside an SQLite file; else to the database, as to PostgreSQL."""
        self.syncs_log = True
        """The log waits for the disk, as with `durability=power`."""
        self.log: SimulatedLog | None = None
        """The log of the server that runs."""
        self.logged: Callable[[LogEntry], None] = lambda _: None
        """Is called after every commit to the log."""
        self.synced: Callable[[], None] = lambda: None
        """Is called when no power cut can take any more what was committed to the log."""
        self.log_cut: Callable[[], None] = lambda: None
        """Is called after old entries of the log were deleted."""
        self.calls = Calls(Volume(self._folder))
        """What is written beside the file."""

    def reset(self, *, keeps_log: bool, syncs_log: bool) -> None:
        self.keeps_log, self.syncs_log = keeps_log, syncs_log
        self._empty.backup(self._restore)
        shutil.rmtree(self._log_folder, ignore_errors=True)
        self.calls = Calls(Volume(self._folder))
        self.hangs_until_ns = 0
        self.well()

    def well(self) -> None:
        self.is_failing = self.has_refused = False
        self.loses_answers = self.fails_commits = 0.0

    def refuse(self) -> None:
        if not self.has_refused:
            self.has_refused = True
            self.refused()

    def abandon(self) -> None:
        """The server has died, and its connection and its files with it."""
        if self.writer is not None:
            self.writer._disconnect()
        cut_at, self.calls.cut_at = self.calls.cut_at, 0
        if self.log is not None:
            self.log.close()
        self.calls.cut_at = cut_at

    def cut_power(self, rng: Random) -> None:
        """Leave what a power cut leaves, under a server that has died by it."""
        self.calls.volume.leave(self._left, rng)
        self.calls.restore_power(self.calls.volume)
        self.abandon()
        shutil.rmtree(self._log_folder)
        left = self._left / self._log_folder.name
        if left.exists():
            left.rename(self._log_folder)
        shutil.rmtree(self._left)
        self.calls.restore_power(Volume(self._folder))

    def journal(self) -> Iterator[bytes]:
        """The moves of all entries that are kept, of the database and of the log."""
        for (moves,) in self.reader.execute("SELECT moves FROM journal ORDER BY id"):
            yield moves
        with self.database.reader.connect() as connection, LogReader(self._log_folder) as reader:
            for entry in read_log(connection, reader):
                yield bytes(entry.moves)

    @property
    def is_away(self) -> bool:
        """Whether it refuses some commits at the moment: of chances, since one came about."""
        return self.is_failing or self.has_refused

    def close(self) -> None:
        for connection in (self.reader, self._restore, self._empty):
            connection.close()
        self.database.close()


class SimulatedDatabase(Database):
    """The product's database, whose reads fail where the disk does."""

    def __init__(self, url: str, disk: Disk) -> None:
        super().__init__(url, Durability.PROCESS)
        self.disk = disk

    def claim_anew(self) -> None:
        if self.fence.epoch:
            event.remove(self.writer, "connect", self.fence._on_connect)
        self.writer.dispose()
        self.fence = Fence(self.writer)
        self.fence.claim()

    def read(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        if self.disk.is_failing:
            raise failure("disk I/O error")
        return super().read(query, *args, **kwargs)


def open_log(database: SimulatedDatabase) -> MoveLog | None:
    """The product's log, if there is one, whose writes fail where the disk does."""
    disk = database.disk
    if not disk.keeps_log:
        return None
    disk.log = SimulatedLog(disk._log_folder, disk)
    return disk.log


class SimulatedLog(MoveLog):
    """Appends to the product's log, on a disk that may fail."""

    def __init__(self, folder: Path, disk: Disk) -> None:
        super().__init__(folder, is_synced=disk.syncs_log)
        self.disk = disk
        self._last_logged = 0

    def begin(self, entry: LogEntry, *, database_id: bytes, epoch: Epoch) -> LogMark:
        self._last_logged = entry.id
        mark = super().begin(entry, database_id=database_id, epoch=epoch)
        self.disk.synced()
        return mark

    def append(
        self, entry: LogEntry, *, keep_from: EntryId | None = None, renew: bool = False
    ) -> None:
        """Append an entry, which is committed then: a server that dies leaves its files."""
        if self.disk.is_failing:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        try:
            super().append(entry, keep_from=keep_from, renew=renew)
        except PowerCut:
            self._note(entry)  # it may have been written before
            raise
        self._note(entry)

    def _note(self, entry: LogEntry) -> None:
        if entry.id > self._last_logged:  # not once more
            self._last_logged = entry.id
            self.disk.logged(entry)

    def sync(self) -> None:
        super().sync()
        self.disk.synced()


class SimulatedLogThread:
    """Writes to the log, and waits for the disk in simulated time."""

    def __init__(self, log: SimulatedLog, *, loop: SimulatedLoop, rng: Random) -> None:
        self._log = log
        self._disk = log.disk
        self._loop = loop
        self._rng = rng

    async def append(self, entry: LogEntry, keep_from: EntryId | None, *, renew: bool) -> None:
        """Append an entry, and wait for as long as the disk takes."""
        self._log.append(entry, keep_from=keep_from, renew=renew)
        delay_ns = self._rng.randrange(MS // 10, 2 * MS)
        wait_ns = max(delay_ns, self._disk.hangs_until_ns - self._loop.now_ns)
        await asyncio.sleep(wait_ns / NS_PER_SECOND)
        error = errno.EIO if self._disk.is_failing else 0
        with self._disk.calls.failing(error, "fdatasync", "fsync"):
            self._log.sync()
        are_deleted = bool(self._log._doomed)
        self._log.settle()
        if are_deleted:
            self._disk.log_cut()

    def settle(self) -> None:
        """Do nothing: it is done behind each entry."""

    def close(self) -> None:
        """Do nothing: there is no thread."""


class SimulatedWriter(Writer):
    """Commits groups like the product's writer, at instants of the simulated time.

    A group is committed at one instant and answered at a later one: a server that dies between
    the two has committed what it has told nobody of.
    """

    def __init__(self, loop: SimulatedLoop, database: SimulatedDatabase, rng: Random) -> None:
        super().__init__(database)
        self._loop = loop
        self._disk = database.disk
        self._disk.writer = self
        self._rng = rng
        self._pending: list[tuple[_Work[Any], Future[Any]]] = []
        self._is_busy = False

    def submit(self, function: Callable[[Connection], T], *, is_urgent: bool = False) -> Future[T]:
        """Have `function` run in a transaction that is committed some time later."""
        answer: Future[T] = Future()
        first = 0 if is_urgent else len(self._pending)
        self._pending.insert(first, (_Work(function), answer))
        self._start()
        return answer

    def close(self, *_: object) -> bool:
        """Do nothing: a server that dies leaves its pending work."""
        return True

    def _run(self) -> None:
        """Do nothing: the thread that the product starts for it ends at once."""

    def _start(self) -> None:
        if self._pending and not self._is_busy:
            self._is_busy = True
            self._loop.call_after_ns(self._delay(), self._write)

    def _delay(self) -> int:
        return self._rng.randrange(MS // 10, 4 * MS)

    def _write(self) -> None:
        wait_ns = self._disk.hangs_until_ns - self._loop.now_ns
        if wait_ns > 0:
            self._loop.call_after_ns(wait_ns, self._write)
            return
        group, self._pending = self._pending[:MAX_GROUP], self._pending[MAX_GROUP:]
        for work, _ in group:
            work.begin()
        self._commit([work for work, _ in group])
        self._disk.writer_committed()
        self._loop.call_after_ns(self._delay(), self._answer, group)

    def _answer(self, group: list[tuple[_Work[Any], Future[Any]]]) -> None:
        wait_ns = self._disk.hangs_until_ns - self._loop.now_ns
        if wait_ns > 0:
            self._loop.call_after_ns(wait_ns, self._answer, group)
            return
        for work, answer in group:
            if not answer.set_running_or_notify_cancel():
                continue
            error = work.future.exception()
            if error is None:
                answer.set_result(work.future.result())
            else:
                answer.set_exception(error)
        self._is_busy = False
        self._start()

    def _connect(self) -> Connection:
        if self._disk.is_failing:
            raise failure("disk I/O error")
        connection = super()._connect()
        chance = self._rng.random()
        if chance < self._disk.loses_answers + self._disk.fails_commits:
            self._disk.refuse()
        if chance < self._disk.loses_answers:
            return _FaultyConnection(connection, is_committed=True)  # type: ignore[return-value]
        if chance < self._disk.loses_answers + self._disk.fails_commits:
            return _FaultyConnection(connection, is_committed=False)  # type: ignore[return-value]
        return connection


class _FaultyConnection:
    """A connection that breaks off at the commit, before it has happened or after."""

    def __init__(self, connection: Connection, *, is_committed: bool) -> None:
        self._connection = connection
        self._is_committed = is_committed

    @contextmanager
    def begin(self) -> Iterator[Any]:
        with self._connection.begin() as transaction:
            yield transaction
            if not self._is_committed:
                raise failure("database or disk is full")
        error = failure("the connection broke off")
        error.connection_invalidated = True
        raise error


def failure(words: str) -> OperationalError:
    return OperationalError("COMMIT", None, sqlite3.OperationalError(words))

"""The writer thread: everything pending goes into one commit, a group commit."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from datetime import timedelta
from enum import IntEnum
from itertools import count
from queue import PriorityQueue
from typing import Any, Generic, TypeAlias, TypeVar

from sqlalchemy import Connection, RootTransaction
from sqlalchemy.exc import DBAPIError

from meijin.store.database import Database, is_unavailable
from meijin.store.errors import LostOwnershipError

T = TypeVar("T")

MAX_GROUP = 2
"""The most pieces of work in one commit: a new bot's hello takes 0.5 ms, and moves wait for it."""


class _Turn(IntEnum):
    """What is done before what."""

    URGENT = 0
    OTHER = 1
    END = 2


class _Work(Generic[T]):
    """A piece of work and the future that tells its end."""

    def __init__(self, function: Callable[[Connection], T]) -> None:
        self.function = function
        self.future: Future[T] = Future()
        self.result: T | None = None

    def begin(self) -> bool:
        """Whether it is still wanted; from now on it can't be cancelled."""
        return self.future.set_running_or_notify_cancel()

    def run(self, connection: Connection) -> None:
        self.result = self.function(connection)

    def done(self) -> None:
        self.future.set_result(self.result)  # type: ignore[arg-type]  # T may include None


_Waiting: TypeAlias = tuple[_Turn, int, _Work[Any] | None]
"""A piece of work after what orders it; ``None`` ends the thread."""


class Writer:
    """Runs writing work on a thread of its own, committing what is pending together.

    Urgent work is done first and by itself, and then what was submitted first. Work
    that fails is rolled back alone: the others of its group are then run again, so a
    piece must not keep state of a failed run. All of them fail where the transaction
    can't begin, where the database is away a second time, and where the commit itself
    fails, since it may have happened and its answer been lost.
    Once the database is no longer this server's, all work ends with a `LostOwnershipError`.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: Connection | None = None
        self._lost: LostOwnershipError | None = None
        self._numbers = count()
        self._queue: PriorityQueue[_Waiting] = PriorityQueue()
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def submit(self, function: Callable[[Connection], T], *, is_urgent: bool = False) -> Future[T]:
        """Have `function` run in a transaction; the future is done after its commit.

        Args:
            is_urgent: Games wait for it: it is done before all that is not.
        """
        work = _Work(function)
        self._put(_Turn.URGENT if is_urgent else _Turn.OTHER, work)
        return work.future

    def close(self, timeout: timedelta | None = None) -> bool:
        """Commit what is pending and end the thread; false if that takes longer than `timeout`."""
        self._put(_Turn.END, None)
        self._thread.join(None if timeout is None else timeout.total_seconds())
        return not self._thread.is_alive()

    def _put(self, turn: _Turn, work: _Work[Any] | None) -> None:
        self._queue.put((turn, next(self._numbers), work))

    def _run(self) -> None:
        while True:
            turn, _, work = self._queue.get()
            if work is None:
                break
            group = [work] if work.begin() else []
            group += self._waiting(MAX_GROUP - 1, turn)
            if group:
                self._commit(group)
        self._disconnect()

    def _waiting(self, limit: int, last: _Turn = _Turn.OTHER) -> list[_Work[Any]]:
        """Take out what waits up to a turn and is still wanted; the end stays where it is."""
        waiting: list[_Work[Any]] = []
        while len(waiting) < limit and not self._queue.empty():
            first = turn, _, work = self._queue.get()
            if work is None or turn > last:
                self._queue.put(first)
                break
            if work.begin():
                waiting.append(work)
        return waiting

    def _commit(self, group: list[_Work[Any]], *, is_last_try: bool = False) -> None:
        failed: _Work[Any] | None = None
        try:
            with self._begin(group) as transaction:
                self._database.fence.check_transaction(transaction.connection)
                for work in group:
                    failed = work
                    work.run(transaction.connection)
                failed = None
        except Exception as error:  # noqa: BLE001 - the future carries it to whoever waits
            self._disconnect()
            if isinstance(error, LostOwnershipError):
                self._lost = error
            if failed is None or (is_last_try and _is_away(error)):
                _fail(group, error)
                return
            _fail([failed], error)
            if rest := [work for work in group if work is not failed]:
                self._commit(rest, is_last_try=is_last_try or _is_away(error))
            return
        for work in group:
            work.done()

    def _begin(self, group: list[_Work[Any]]) -> RootTransaction:
        """Begin the transaction of a group.

        When the database is away, whoever came meanwhile fails with the group: a locked one takes
        seconds to say so, which they have waited as well.
        """
        try:
            return self._connect().begin()
        except DBAPIError as error:
            if _is_away(error):
                group += self._waiting(self._queue.qsize())
            raise

    def _connect(self) -> Connection:
        """The connection, kept from commit to commit: taking one anew costs 35 microseconds."""
        if self._lost is not None:
            raise self._lost
        if self._connection is None:
            self._connection = self._database.writer.connect()
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _fail(group: list[_Work[Any]], error: Exception) -> None:
    for work in group:
        work.future.set_exception(error)


def _is_away(error: Exception) -> bool:
    return isinstance(error, DBAPIError) and is_unavailable(error)

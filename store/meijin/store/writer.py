"""The writer thread: everything pending goes into one commit, a group commit."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from datetime import timedelta
from queue import SimpleQueue
from typing import Generic, TypeVar

from sqlalchemy import Connection

from meijin.store.database import Database
from meijin.store.errors import LostOwnershipError

T = TypeVar("T")

MAX_GROUP = 64
"""The most pieces of work in one commit, so that none waits long for the others."""


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


class Writer:
    """Runs writing work on a thread of its own, committing whatever is pending together.

    Work that fails is rolled back alone: the group is then run again piece by
    piece, so a piece must not keep state of a failed run. When the commit itself
    fails nothing is run again, since it may have happened and its answer been lost.
    Once the database is no longer this server's, all work ends with a `LostOwnershipError`.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: Connection | None = None
        self._lost: LostOwnershipError | None = None
        self._queue: SimpleQueue[_Work[object] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def submit(self, function: Callable[[Connection], T]) -> Future[T]:
        """Have `function` run in a transaction; the future is done after its commit."""
        work = _Work(function)
        self._queue.put(work)  # type: ignore[arg-type]  # invariance: the queue only runs it
        return work.future

    def close(self, timeout: timedelta | None = None) -> bool:
        """Commit what is pending and end the thread; false if that takes longer than `timeout`."""
        self._queue.put(None)
        self._thread.join(None if timeout is None else timeout.total_seconds())
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (first := self._queue.get()) is not None:
            group = [first]
            while len(group) < MAX_GROUP and not self._queue.empty():
                work = self._queue.get()
                if work is None:
                    self._queue.put(None)
                    break
                group.append(work)
            self._commit([work for work in group if work.begin()])
        self._disconnect()

    def _commit(self, group: list[_Work[object]]) -> None:
        is_committing = False
        try:
            with self._connect().begin() as transaction:
                self._database.fence.check_transaction(transaction.connection)
                for work in group:
                    work.run(transaction.connection)
                is_committing = True
        except Exception as error:  # noqa: BLE001 - the future carries it to whoever waits
            self._disconnect()
            if isinstance(error, LostOwnershipError):
                self._lost = error
            if is_committing or len(group) == 1:
                for work in group:
                    work.future.set_exception(error)
                return
            for work in group:
                self._commit([work])
            return
        for work in group:
            work.done()

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

"""Fencing: a server that has lost its database to another one writes nothing more."""

import os
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, event, update

from meijin.store.errors import FencedError, LostCommitsError
from meijin.store.schema import Claim, EntryId, Epoch


@contextmanager
def closed_on_failure(connection: Any) -> Iterator[None]:  # noqa: ANN401 - the driver's own
    """Close a new connection whose preparation fails: nobody else would."""
    try:
        yield
    except BaseException:
        connection.close()
        raise


NO_EPOCH = Epoch(0)
"""Of entries that were written without a claim, or before there were epochs."""

_CLAIM = "SELECT epoch, holder, time FROM claim"
SELECT_NEWEST = "SELECT epoch, id FROM journal ORDER BY epoch DESC, id DESC LIMIT 1"


class EntryKey(NamedTuple):
    """Which entry of the journal, in the order in which they were written."""

    epoch: Epoch
    id: EntryId


NO_ENTRY = EntryKey(NO_EPOCH, EntryId(0))
"""Before the first."""


class Fence:
    """Fencing: compares the epoch of this process's claim with the one that is stored.

    It is called on the thread that writes, but for `acknowledge`.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.epoch = NO_EPOCH
        """Of this process's claim; 0 before it."""
        self._claim: tuple[object, ...] | None = None
        """The row as the driver reads it: a database restored from a backup has lost epochs, and
        another server may have been given the same one since."""
        self._acknowledged = NO_ENTRY
        self._version: object = None

    def claim(self) -> None:
        """Raise the epoch, which fences whoever owned the database before.

        Call it with the lock held and the tables current, and once.
        """
        claimed = {"holder": f"{socket.gethostname()}:{os.getpid()}", "time": datetime.now(UTC)}
        raised = update(Claim).values(epoch=Claim.epoch + 1, **claimed).returning(Claim.epoch)
        with self._engine.begin() as connection:
            epoch = connection.execute(raised).scalar_one()
            claim = tuple(connection.exec_driver_sql(_CLAIM).one())
        self.epoch, self._claim = epoch, claim
        self._acknowledged = EntryKey(epoch, EntryId(0))
        event.listen(self._engine, "connect", self._on_connect)

    def acknowledge(self, entry: EntryId) -> None:
        """An entry of this epoch is committed, and is about to be told of."""
        self._acknowledged = EntryKey(self.epoch, entry)

    @property
    def acknowledged(self) -> EntryId:
        """The newest entry of this epoch that is committed, and may have been told of."""
        return self._acknowledged.id

    def check_epoch(self, cursor: Any) -> None:  # noqa: ANN401 - the driver's own
        """Compare the epochs on a connection that may not hold the lock.

        Raises:
            FencedError: another server has claimed the database since.
        """
        cursor.execute(_CLAIM)
        epoch, holder, _ = claim = tuple(cursor.fetchone())
        if claim != self._claim:
            raise FencedError(
                f"another server, {holder}, has taken this database over "
                f"(epoch {epoch}, this one's was {self.epoch})"
            )

    def check_transaction(self, connection: Connection) -> None:
        """Compare the epochs in a transaction of the writer, if another process has written.

        PostgreSQL's lock ends with the session, so that there nobody can have. In SQLite the file
        with the lock may have been replaced: the number of foreign writes is asked for, in 2
        microseconds.

        Raises:
            FencedError: another server has claimed the database since.
            LostCommitsError: the database holds less than what was committed.
        """
        if self.epoch == NO_EPOCH or connection.dialect.name != "sqlite":
            return
        cursor = connection.connection.cursor()
        try:
            version = cursor.execute("PRAGMA data_version").fetchone()
            if version != self._version:
                self._check(cursor)
                self._version = version
        finally:
            cursor.close()

    def _on_connect(self, connection: Any, _record: object) -> None:  # noqa: ANN401 - the driver's own
        """Look at a new connection of the writer, after whoever takes its lock."""
        with closed_on_failure(connection), closing(connection.cursor()) as cursor:
            self._check(cursor)
            connection.rollback()
        self._version = None

    def _check(self, cursor: Any) -> None:  # noqa: ANN401 - the driver's own
        """Compare the epochs, and the newest entry with the newest that was told of."""
        self.check_epoch(cursor)
        cursor.execute(SELECT_NEWEST)
        newest = EntryKey(*(cursor.fetchone() or NO_ENTRY))
        if self._acknowledged.id and newest < self._acknowledged:
            raise LostCommitsError(
                f"the database has lost what it had committed: entry {self._acknowledged.id} of "
                f"the journal was, and the newest is {newest.id}; was it restored from a backup, "
                "or replaced by a standby that was behind?"
            )

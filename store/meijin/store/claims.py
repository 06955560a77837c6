"""Claims: one server at a time, by a lock that ends with whoever holds it."""

import errno
import fcntl
import os
import stat
import time
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.exc import OperationalError

from meijin.store.errors import ForeignLockError, StoreInUseError
from meijin.store.fence import Fence, closed_on_failure

ADVISORY_LOCK = 0x6D65696A696E
"""The key of the lock that a server holds on PostgreSQL: the letters of the name."""

CLAIM_TIMEOUT = timedelta(seconds=1)
"""In this time PostgreSQL notices that the server before has ended, and frees its lock."""


MAX_ADDRESS = 300
"""Bytes of a server's address that are told."""


class FileClaim(AbstractContextManager[None]):
    """A lock on a file; the system frees it when the process dies.

    Nobody else may open the file, or anybody could take the lock and keep the server from
    starting. `of` is what it stands for, as people know it.

    Raises:
        StoreInUseError: another server holds it.
        ForeignLockError: the file is a link, no plain file, or somebody else's.
    """

    def __init__(self, path: Path, *, of: str) -> None:
        self._path = path
        self._of = of
        self._file: int | None = None

    def __enter__(self) -> None:
        self._file = self._open()
        try:
            self._check_owner(os.fstat(self._file))
            os.fchmod(self._file, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(self._file, 0)
        except BlockingIOError:
            address = os.read(self._file, MAX_ADDRESS).decode(errors="replace")
            self.release()
            at = f" at {address}" if address else ""
            message = f"another server is running on {self._of}{at}; stop it first"
            raise StoreInUseError(message) from None
        except BaseException:
            self.release()
            raise

    def tell(self, address: str) -> None:
        """Have those who are refused told where the server is."""
        assert self._file is not None
        os.pwrite(self._file, address.encode(), 0)

    def _open(self) -> int:
        """Open the file without following a link, and without waiting for a pipe's other end."""
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            return os.open(self._path, flags, 0o600)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            message = f"{self._path} is a symbolic link; remove it and start again"
            raise ForeignLockError(message) from None

    def _check_owner(self, found: os.stat_result) -> None:
        """Accept a plain file that belongs to this user, or to whom the folder belongs."""
        owners = {os.geteuid(), self._path.parent.stat().st_uid}
        if not stat.S_ISREG(found.st_mode):
            raise ForeignLockError(f"{self._path} is no plain file; remove it and start again")
        if found.st_uid not in owners:
            message = f"{self._path} belongs to user {found.st_uid}; remove it and start again"
            raise ForeignLockError(message)

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


class AdvisoryClaim(AbstractContextManager[None]):
    """A lock of the session that writes; PostgreSQL frees it when the session ends.

    Every new connection of the writer takes it before anything else. So a server whose
    database was restarted holds it again before it writes, or waits if another one does.
    """

    def __init__(self, engine: Engine, fence: Fence) -> None:
        self._engine = engine
        self._fence = fence

    def __enter__(self) -> None:
        self._engine.dispose()
        event.listen(self._engine, "connect", self._lock)
        deadline = time.monotonic() + CLAIM_TIMEOUT.total_seconds()
        while True:
            try:
                self._engine.connect().close()
            except OperationalError as error:
                is_taken = str(error.orig) == self._refusal
                if is_taken and time.monotonic() < deadline:
                    time.sleep(CLAIM_TIMEOUT.total_seconds() / 20)
                    continue
                self.release()
                if is_taken:
                    raise StoreInUseError(self._refusal) from None
                raise
            return

    @property
    def _refusal(self) -> str:
        return f"another server is running on {self._engine.url.database}; stop it first"

    def _lock(self, connection: Any, _record: object) -> None:  # noqa: ANN401 - the driver's own
        with closed_on_failure(connection):
            with connection.cursor() as cursor:
                cursor.execute(f"SELECT pg_try_advisory_lock({ADVISORY_LOCK})")
                (taken,) = cursor.fetchone()
            connection.commit()
            if not taken:
                self._refuse(connection)

    def _refuse(self, connection: Any) -> None:  # noqa: ANN401 - the driver's own
        """Say that another session has the lock: another server's, or one of this that hangs."""
        if self._fence.epoch:
            with connection.cursor() as cursor:
                self._fence.check_epoch(cursor)
        raise self._engine.dialect.loaded_dbapi.OperationalError(self._refusal)

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        event.remove(self._engine, "connect", self._lock)
        self._engine.dispose()

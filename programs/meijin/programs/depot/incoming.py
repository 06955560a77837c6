"""Uploads under way: partial files that go on where they were cut."""

import errno
import fcntl
import hashlib
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from meijin.programs.depot.digest import CHUNK_BYTES
from meijin.programs.errors import (
    DepotError,
    DepotFullError,
    UploadIncompleteError,
    UploadInProgressError,
    WrongBytesError,
)

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Incoming(AbstractContextManager["Incoming"]):
    """One upload of a program, alone with its partial file.

    Left without `finish` or `abort`, the bytes that are there wait to be gone on with.

    Raises:
        UploadInProgressError: the partial file is another upload's just now.
        DepotFullError: there is no room for it.
    """

    def __init__(
        self, path: Path, *, digest: str, size: int, keep: Callable[[str, Path], None]
    ) -> None:
        self.digest = digest
        self.size = size
        self._path = path
        self._keep = keep
        self._hash = hashlib.sha256()
        self.offset = 0
        """The bytes that are there: the next chunk follows them."""
        self._file: int | None = claim(path)
        self._resume()

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, chunk: bytes) -> None:
        """Add the bytes that follow those that are there.

        Raises:
            WrongBytesError: they are more than announced; nothing is kept.
            DepotFullError: there is no room; nothing is kept.
        """
        if self.offset + len(chunk) > self.size:
            self.abort()
            raise WrongBytesError(
                f"{self.offset + len(chunk)} bytes came where {self.size} were announced;"
                " announce the file's size and send it again"
            )
        self._append(chunk)
        self._hash.update(chunk)
        self.offset += len(chunk)

    def finish(self) -> None:
        """Keep the program, now that all bytes are there and on the disk.

        Raises:
            UploadIncompleteError: some are missing; those that are there stay.
            WrongBytesError: they are not those of the digest; nothing is kept.
            DepotFullError: there is no room; nothing is kept.
        """
        if self.offset < self.size:
            raise UploadIncompleteError(
                f"{self.offset} of {self.size} bytes are there; send the rest"
            )
        found = self._hash.hexdigest()
        if found != self.digest:
            self.abort()
            raise WrongBytesError(
                f"the bytes have the digest {found}, not {self.digest};"
                " compute it of the file that is sent, and send it again"
            )
        try:
            os.fsync(self._opened())
            self._keep(self.digest, self._path)
        except OSError as error:
            raise self._failure(error) from error
        self.close()

    def abort(self) -> None:
        """Keep nothing of it."""
        if self._file is not None:
            self._path.unlink(missing_ok=True)
            self.close()

    def close(self) -> None:
        """Leave it as it is, to be gone on with."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _resume(self) -> None:
        """Take over the bytes that an upload before has left, as far as they can be this one's."""
        file = self._opened()
        try:
            if os.fstat(file).st_size > self.size:
                os.ftruncate(file, 0)
            while chunk := os.pread(file, CHUNK_BYTES, self.offset):
                self._hash.update(chunk)
                self.offset += len(chunk)
        except BaseException:
            self.close()
            raise

    def _append(self, chunk: bytes) -> None:
        file, rest, place = self._opened(), memoryview(chunk), self.offset
        try:
            while rest:
                written = os.pwrite(file, rest, place)
                rest, place = rest[written:], place + written
        except OSError as error:
            raise self._failure(error) from error

    def _failure(self, error: OSError) -> DepotError:
        """What a failed write is for the uploader; without room nothing stays behind."""
        if error.errno not in _NO_ROOM:
            return DepotError(f"can't keep {self.digest}: {error.strerror}; try again later")
        self.abort()
        return DepotFullError(f"no room for the {self.size} bytes of {self.digest}; free some")

    def _opened(self) -> int:
        if self._file is None:
            raise DepotError(f"the upload of {self.digest} has ended; begin it again")
        return self._file


def claim(path: Path) -> int:
    """Open a partial file, made if need be, that nobody else has open; its lock ends with it.

    Raises:
        UploadInProgressError: somebody has.
    """
    while True:
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            if error.errno in _NO_ROOM:
                raise DepotFullError(f"no room for {path.name}; free some") from None
            raise
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(path, file):
                return file
            os.close(file)  # it was finished or swept between opening and locking
        except BlockingIOError:
            os.close(file)
            text = "the same program is being uploaded by you already; wait until that has ended"
            raise UploadInProgressError(text) from None
        except BaseException:
            os.close(file)
            raise


def _is_at(path: Path, file: int) -> bool:
    try:
        return os.path.samestat(path.stat(follow_symlinks=False), os.fstat(file))
    except FileNotFoundError:
        return False

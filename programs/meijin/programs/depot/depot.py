"""The depot: programs kept, read and deleted by digest, wherever their bytes lie."""

import hashlib
import os
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from meijin.programs.depot.bucket import SCHEME, Bucket
from meijin.programs.depot.digest import check_digest, checked
from meijin.programs.depot.folder import Folder
from meijin.programs.depot.incoming import Incoming, claim
from meijin.programs.errors import (
    DepotError,
    DepotFullError,
    UnknownProgramError,
    UploadInProgressError,
)

DEFAULT_PLACE = Path("data/programs")
STALE_TIME = timedelta(days=1)
"""What nobody names, and an upload that nobody has gone on with, is deleted after so long."""
_INCOMING = "incoming"
_PART = ".part"


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep has deleted."""

    partials: int
    digests: tuple[str, ...]


class Depot:
    """Bytes of programs by their SHA-256.

    Its methods block, and may be called from several threads and processes at once.
    """

    def __init__(self, whole: Folder | Bucket, incoming: Path) -> None:
        self._whole = whole
        self._incoming = incoming

    def has(self, digest: str) -> bool:
        return self._whole.has(check_digest(digest))

    def begin(self, digest: str, *, size: int, uploader: str) -> Incoming:
        """Begin an upload, or go on with that of the same program by the same uploader.

        Raises:
            UploadInProgressError: it goes on elsewhere.
            DepotFullError: there is no room.
        """
        name = hashlib.sha256(uploader.encode()).hexdigest()[:16]
        path = self._incoming / f"{check_digest(digest)}-{name}{_PART}"
        return Incoming(path, digest=digest, size=size, keep=self._whole.take)

    def read(self, digest: str) -> Iterator[bytes]:
        """The bytes of a program in chunks; those of another digest end in an error.

        Raises:
            UnknownProgramError: there is none.
            DamagedProgramError: the bytes are not those of the digest.
        """
        chunks = checked(self._whole.chunks(check_digest(digest)), digest)
        try:
            yield from chunks
        except FileNotFoundError:
            raise UnknownProgramError(f"no program {digest} is kept; upload it again") from None

    def copy(self, digest: str, target: Path) -> None:
        """Write a program to a file, which is whole or not there.

        Raises:
            UnknownProgramError: there is none.
            DamagedProgramError: the bytes are not those of the digest.
            DepotFullError: the file's disk has no room.
        """
        partial = target.with_name(f"{target.name}.{os.urandom(8).hex()}{_PART}")
        try:
            with partial.open("xb") as file:
                for chunk in self.read(digest):
                    file.write(chunk)
            partial.replace(target)
        except OSError as error:
            text = f"can't write {target}: {error.strerror}; free some room or name another file"
            raise DepotFullError(text) from error
        finally:
            partial.unlink(missing_ok=True)

    def delete(self, digest: str) -> None:
        """Delete a program; there may be none."""
        self._whole.delete(check_digest(digest))

    def digests(self) -> list[str]:
        """The digests of all programs that are there whole, sorted."""
        return sorted(digest for digest, _ in self._whole.change_times())

    def sweep(self, named: Collection[str], *, age: timedelta = STALE_TIME) -> Swept:
        """Delete programs that nobody names, and partial uploads, when they are older than `age`.

        So a program that was just uploaded stays until it is named.
        """
        before = time.time() - age.total_seconds()
        unnamed = sorted(
            digest
            for digest, change_time in self._whole.change_times()
            if digest not in named and change_time < before
        )
        for digest in unnamed:
            self._whole.delete(digest)
        paths = list(self._incoming.glob(f"*{_PART}"))
        return Swept(sum(_is_swept(path, before) for path in paths), tuple(unnamed))


def open_depot(place: str | Path = DEFAULT_PLACE, *, incoming: Path | None = None) -> Depot:
    """Open the depot in a folder, which is made if need be, or at ``s3://BUCKET/FOLDER``.

    `incoming` holds what is not whole yet; ``incoming`` in the depot's folder when left out, or
    in the default one for a bucket.

    Raises:
        DepotError: it can't be opened.
    """
    is_bucket = str(place).startswith(SCHEME)
    if not is_bucket and "://" in str(place):
        raise DepotError(f'"{place}" is no place for programs; name a folder or {SCHEME}BUCKET')
    folder = DEFAULT_PLACE if is_bucket else Path(place)
    partials = incoming or folder / _INCOMING
    whole = Bucket(str(place)) if is_bucket else Folder(folder)
    try:
        partials.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not is_bucket:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        text = f"can't use {error.filename} for programs: {error.strerror}; name another folder"
        raise DepotError(text) from None
    return Depot(whole, partials)


def _is_swept(path: Path, before: float) -> bool:
    """Delete a partial file that has not changed since, unless somebody goes on with it."""
    with suppress(FileNotFoundError, UploadInProgressError):
        if path.stat().st_mtime >= before:
            return False
        file = claim(path)
        try:
            path.unlink()
        finally:
            os.close(file)
        return True
    return False

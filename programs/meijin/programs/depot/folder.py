"""Whole programs in a folder, one file a digest."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from meijin.programs.depot.digest import CHUNK_BYTES, is_digest


class Folder:
    """Keeps whole programs as files that appear and vanish at once."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def has(self, digest: str) -> bool:
        return self._file(digest).is_file()

    def take(self, digest: str, file: Path) -> None:
        """Move a file that is on the disk already into its place."""
        file.replace(self._file(digest))
        sync_folder(self._path)

    def chunks(self, digest: str) -> Iterator[bytes]:
        """The bytes of a program.

        Raises:
            FileNotFoundError: there is none.
        """
        with self._file(digest).open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                yield chunk

    def delete(self, digest: str) -> None:
        self._file(digest).unlink(missing_ok=True)

    def change_times(self) -> Iterator[tuple[str, float]]:
        """Each digest, and when its bytes came, in seconds since the epoch."""
        for path in self._path.iterdir():
            if is_digest(path.name):
                with suppress(FileNotFoundError):
                    yield path.name, path.stat().st_mtime

    def _file(self, digest: str) -> Path:
        return self._path / digest


def sync_folder(path: Path) -> None:
    """Have the names in a folder survive a power cut."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)

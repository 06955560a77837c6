"""The tuning log: what is tuned, and each result, a JSON object in a line of a file."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Self

from meijin.local.errors import ArenaError
from meijin.wire.contract import DATABASE_FILE

FILE = "tuning.jsonl"
"""In the folder of a tuning."""


class TuningLog:
    """The file of one tuning, which is only ever added to."""

    def __init__(self, folder: Path, asked: Mapping[str, object], drawn: Mapping[str, int]) -> None:
        """Open it, or begin one.

        Args:
            asked: What the tuning is; the same command asks for the same.
            drawn: What a new one is begun with, besides; one that goes on has its own.

        Raises:
            ArenaError: the file can't be used, is of another tuning, or another command has it
                open; or the folder holds a match.
        """
        import fcntl  # noqa: PLC0415 - not on Windows, where nothing is tuned

        self._path = folder / FILE
        if (folder / DATABASE_FILE).exists():
            raise ArenaError(f"{folder} holds a match; give another --data")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("ab+")
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise ArenaError(
                f"another command is tuning in {folder}; wait for its end, or give another --data"
            ) from None
        except OSError as error:
            raise ArenaError(f"can't use {self._path}: {error.strerror}") from None
        lines = self._lines()
        if not lines:
            self._write({"asked": asked, "drawn": drawn})
            lines = self._lines()
        head, *self._noted = lines
        if head.get("asked") != json.loads(json.dumps(asked)):
            self._file.close()
            raise ArenaError(
                f"{self._path} is of another tuning; give the same command or another --data"
            )
        self.drawn: Mapping[str, int] = head["drawn"]

    def _lines(self) -> list[dict[str, dict[str, int]]]:
        """All whole lines; what a kill has left of another is cut off."""
        self._file.seek(0)
        whole, newline, _ = self._file.read().rpartition(b"\n")
        self._file.truncate(len(whole + newline))
        try:
            return [json.loads(line) for line in whole.splitlines()]
        except ValueError:
            self._file.close()
            raise ArenaError(f"{self._path} holds no tuning; give another --data") from None

    def results(self) -> Iterator[tuple[int, float]]:
        """The results that were there when it was opened: each pair's number and its result."""
        for line in self._noted:
            noted = line["noted"]
            yield int(noted["pair"]), float(noted["result"])

    def note(self, pair: int, result: float) -> None:
        """Add one; it is on the disk when this returns."""
        self._write({"noted": {"pair": pair, "result": result}})

    def _write(self, line: Mapping[str, object]) -> None:
        self._file.write(json.dumps(line).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

"""A disk that fails: by a schedule from a seed, the calls by which a server writes its log of moves.

A server that is started by this file instead of `meijin` reads from a file that it maps whether
they fail at the moment. What SQLite writes does not: it calls the system from C.
"""

import errno
import mmap
import os
import struct
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

VARIABLE = "FAILING_DISK"
"""In a server's environment, the file that says what fails."""

_SEED = struct.Struct("=q")

FAULTY = 0.3
"""The share of calls that something happens to."""

SLOW_S = 0.3
"""The longest that a slow call takes."""

HANGING_S = 2.5
"""The longest that one hangs, with the event loop where it is a write: less than a move may take."""

SEGMENT_BYTES = 256 * 1024
"""Of the log: after each sync that has failed there is one more, on a disk that is small."""

CALLS = ("pwrite", "fsync", "fdatasync", "posix_fallocate")


class FailingDisk:
    """The disk of the servers that are started with its environment."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "failing-disk"
        self._file.write_bytes(_SEED.pack(0))

    @property
    def environment(self) -> dict[str, str]:
        """What a server is to be started with."""
        return {VARIABLE: str(self._file)}

    def fail(self, seed: int) -> None:
        """Have it fail by the schedule of a seed, which is not 0."""
        self._set(seed)

    def mend(self) -> None:
        """Have it do what it is asked."""
        self._set(0)

    def _set(self, seed: int) -> None:
        with self._file.open("r+b") as file:
            file.write(_SEED.pack(seed))


class Schedule:
    """What happens to the calls of this process, one after another."""

    def __init__(self, file: Path) -> None:
        with file.open("rb") as opened:
            self._page = mmap.mmap(opened.fileno(), _SEED.size, access=mmap.ACCESS_READ)
        self._seed = 0
        self._rng = Random(0)

    def install(self) -> None:
        """Stand between this process and the system."""
        for name in CALLS:
            setattr(os, name, self._faulty(getattr(os, name)))

    def _faulty(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def run(number: int, *arguments: Any) -> Any:
            fault = self._draw(call.__name__)
            return call(number, *arguments) if fault is None else fault(call, number, *arguments)

        return run

    def _draw(self, name: str) -> Callable[..., Any] | None:
        """What happens to the next call; ``None`` for nothing."""
        (seed,) = _SEED.unpack(self._page[:])
        if seed != self._seed:
            self._seed, self._rng = seed, Random(seed)
        if not seed or self._rng.random() >= FAULTY:
            return None
        faults = [_broken, _full, self._slow, self._slow, self._slow, self._hanging]
        if name == "pwrite":
            faults += [_short, _short]
        return self._rng.choice(faults)

    def _slow(self, call: Callable[..., Any], *arguments: Any) -> Any:
        time.sleep(self._rng.uniform(0, SLOW_S))
        return call(*arguments)

    def _hanging(self, call: Callable[..., Any], *arguments: Any) -> Any:
        time.sleep(self._rng.uniform(SLOW_S, HANGING_S))
        return call(*arguments)


def _broken(call: Callable[..., Any], number: int, *arguments: Any) -> Any:
    """Fail; of a write a part may have been made."""
    if call.__name__ == "pwrite":
        _short(call, number, *arguments)
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def _full(*_: Any) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _short(call: Callable[..., Any], number: int, data: Any, offset: int) -> int:
    """Write a half."""
    written: int = call(number, bytes(data)[: len(data) // 2], offset)
    return written


if __name__ == "__main__":
    from meijin.cli.main import main
    from meijin.store.move_log import log

    log.SEGMENT_BYTES, log.PREPARED_AT = SEGMENT_BYTES, SEGMENT_BYTES // 2
    Schedule(Path(os.environ[VARIABLE])).install()
    main()

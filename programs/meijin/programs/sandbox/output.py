"""What a program writes: its last lines are kept, and a flood is noticed."""

import asyncio
import os
import re
import time
from collections.abc import Callable, Sequence

KEPT_BYTES = 64 << 10
_CHUNK = 64 << 10
_PERIOD = 60.0
"""Seconds in which a program may write its limit."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""With those that turn the direction of a line round; of the others a tab is kept."""


class Output:
    """The end of a pipe that a program writes to, read with a token bucket as its limit."""

    def __init__(
        self,
        descriptor: int,
        *,
        limit: int,
        on_flood: Callable[[], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Read a descriptor, which `close` closes, on the running loop.

        Args:
            descriptor: The pipe's end for reading.
            limit: Bytes in a minute, and at once.
            on_flood: Called once, when they were exceeded; nothing is read after it, and the
                program waits to write more: by a pipe that breaks it would fail by another cause.
            now: A clock's seconds.
        """
        self._pipe = os.fdopen(descriptor, "rb", buffering=0)
        self._limit = limit
        self._on_flood = on_flood
        self._now = now
        self._tokens = float(limit)
        self._filled = now()
        self._kept = bytearray()
        self._loop = asyncio.get_running_loop()
        self._is_ended = False
        self.total = 0
        """Bytes that were read."""
        os.set_blocking(descriptor, False)
        self._loop.add_reader(self._pipe, self._read)

    @property
    def lines(self) -> Sequence[str]:
        """The last lines, without control characters."""
        text = self._kept.decode(errors="replace")
        return [_CONTROL.sub("", line) for line in text.splitlines()]

    @property
    def is_cut(self) -> bool:
        """Whether some of it was dropped."""
        return self.total > len(self._kept)

    def close(self) -> None:
        """Read what is there, and no more."""
        while self._read():
            pass
        self._stop()
        self._pipe.close()

    def _read(self) -> bool:
        """Read what is there; whether there may be more."""
        if self._is_ended:
            return False
        data = self._pipe.read(_CHUNK)
        if data is None:
            return False
        if not data:
            self._stop()
            return False
        self.total += len(data)
        self._kept += data
        del self._kept[:-KEPT_BYTES]
        if self._is_flood(len(data)):
            self._stop()
            self._on_flood()
        return True

    def _is_flood(self, count: int) -> bool:
        now = self._now()
        gained = (now - self._filled) * self._limit / _PERIOD
        self._tokens = min(self._tokens + gained, self._limit) - count
        self._filled = now
        return self._tokens < 0

    def _stop(self) -> None:
        if not self._is_ended:
            self._is_ended = True
            self._loop.remove_reader(self._pipe)


class Written:
    """What a running program shows of its output."""

    _output: Output

    @property
    def lines(self) -> Sequence[str]:
        """The last of what it has written."""
        return self._output.lines

    @property
    def is_cut(self) -> bool:
        """Whether older lines were dropped."""
        return self._output.is_cut

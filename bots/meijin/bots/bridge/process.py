"""An engine's process: its streams, its end, its whole family.

It belongs to one thread at a time, which waits for it; another may interrupt the wait. Nobody reads
while nobody waits, so what an engine writes meanwhile fills a pipe and no memory.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from io import FileIO
from pathlib import Path
from typing import NoReturn

from meijin.bots.bridge.dialogue import EngineDiedError, EngineInterruptedError, EngineStartError
from meijin.bots.bridge.settings import EngineLimits
from meijin.game.arbiter.moment import NS_PER_SECOND

MAX_LINE = 4096
"""Bytes of a line that are kept; the rest of it is dropped."""
MANY_LINES = 64
"""Of so many at once, those that are for people alone are dropped but for the last ones."""
_FOR_PEOPLE = (b"MESSAGE", b"DEBUG")
_MARKS = "\ufeff\ufffd"
"""A byte order mark, as itself or, where it isn't UTF-8's, as what can't be read."""


class LineBuffer:
    """Cuts bytes into lines, which end in LF, CR or both; empty ones are left out.

    A line holds no NUL and no byte order mark, and what isn't UTF-8 is replaced, so that it can
    be shown. However long a line gets, no more than `MAX_LINE` bytes of it are kept, and of a flood
    of messages the last ones.
    """

    def __init__(self) -> None:
        self._lines: deque[bytes] = deque()
        self._rest = b""

    def feed(self, data: bytes) -> None:
        *ends, rest = data.replace(b"\0", b"").replace(b"\r", b"\n").split(b"\n")
        if len(ends) > 2 * MANY_LINES:  # to read each takes longer than to write it
            first, last = ends[:-MANY_LINES], ends[-MANY_LINES:]
            kept = [end for end in first[1:] if not end.startswith(_FOR_PEOPLE)]
            ends = [first[0], *kept, *last]
        for end in ends:
            if line := (self._rest + end)[:MAX_LINE].strip():
                self._lines.append(line)
            self._rest = b""
        self._rest = (self._rest + rest)[:MAX_LINE]

    def pop(self) -> str | None:
        """The next whole line, if there is one."""
        return _text(self._lines.popleft()) if self._lines else None

    @property
    def partial(self) -> str:
        """What has come of a line whose end hasn't."""
        return _text(self._rest) if self._rest else ""

    def pop_partial(self) -> str:
        """Take that as a line."""
        text = self.partial
        self._rest = b""
        return text

    def clear(self) -> list[str]:
        """Take all whole lines, and what has come of another."""
        if not (self._lines or self._rest):
            return []
        lines = [*map(_text, self._lines), self.pop_partial()]
        self._lines.clear()
        return lines if lines[-1] else lines[:-1]


def _text(line: bytes) -> str:
    return line.decode(errors="replace").lstrip(_MARKS).strip()


WHOLE_PART = timedelta(milliseconds=150)
"""A line without its end is taken for whole when nothing more has come for so long."""
END_GRACE = timedelta(seconds=1)
"""What an engine may take to end by itself; the protocol says one second."""
_LAUNCHER = Path(__file__).with_name("launcher.py")
_CHUNK = 1 << 16
_FLOOD_CHUNKS = 32
_FLOOD_PAUSE = 0.001  # seconds; one that writes without an end leaves others their time
_STALE_CHUNKS = 64
"""A pipe holds one; an engine that has written more by now writes without an end."""
_KILL_SECONDS = 10.0
_ERRORS_KEPT = 4096
_ERRORS_SHOWN = 1 << 16
_DEATH_SECONDS = 0.5
"""What the launcher may take to say how an engine ended; less than most moves may."""
_ERROR_LINES = 10
"""The last lines of its standard error that are shown when it dies."""
_ERROR_LENGTH = 200
_SUSPEND, _CONTINUE = b"s", b"c"

logger = logging.getLogger("meijin.bots.engine")


class EngineProcess:
    """An engine that runs, with all that it starts, until `close`."""

    def __init__(
        self, command: Sequence[str], limits: EngineLimits, *, core: int | None = None
    ) -> None:
        """Start it.

        Raises:
            EngineStartError: the system has no room for another process.
        """
        self._lines = LineBuffer()
        self._control, theirs = socket.socketpair()
        self._control.setblocking(False)  # noqa: FBT003
        words = [f"--control={theirs.fileno()}", *limits.arguments(core), "--", *command]
        try:
            self._launcher = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_LAUNCHER), *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        except OSError as error:
            self._control.close()
            raise EngineStartError(f"can't start {command[0]}: {error.strerror}") from error
        finally:
            theirs.close()
        assert self._launcher.stdin is not None
        assert isinstance(self._launcher.stdout, FileIO)
        self._stdout = self._launcher.stdout
        assert self._launcher.stderr is not None
        self._streams = (self._launcher.stdin, self._launcher.stdout, self._launcher.stderr)
        self._input, self._output, self._errors = (stream.fileno() for stream in self._streams)
        self._buffer = memoryview(bytearray(_CHUNK))
        for stream in (self._input, self._output, self._errors):
            os.set_blocking(stream, False)
        self._interrupted, self._interrupt = os.pipe()
        os.set_blocking(self._interrupted, False)
        self._poll = select.poll()
        self._interrupts = select.poll()
        self._interrupts.register(self._interrupted, select.POLLIN)
        for source in (self._output, self._errors, self._control.fileno(), self._interrupted):
            self._poll.register(source, select.POLLIN)
        self.heard_ns = 0
        """When the last of its output was read, on the monotonic clock."""
        self._ending = ""  # as the launcher tells it
        self._is_silent = False  # nothing more comes of its output
        self._error_tail = b""
        self._has_closed_errors = False
        self._errors_to_show = _ERRORS_SHOWN
        self._chunks = 0  # read since it was last written to
        self._is_suspended = False
        self._is_closed = False

    @property
    def pid(self) -> int:
        """The number of its launcher, whose descendants all of its processes are."""
        return self._launcher.pid

    @property
    def is_alive(self) -> bool:
        """Whether it can still answer, as far as can be told without waiting."""
        self._hear_control()
        return not (self._is_closed or self._ending or self._is_silent)

    @property
    def errors(self) -> str:
        self._read_errors()
        return self._error_tail.decode(errors="replace").strip()

    def write(self, text: str) -> None:
        """Write all of a text, waiting as long as the engine doesn't read.

        Raises:
            EngineDiedError: it has ended.
            EngineInterruptedError: see `interrupt`.
        """
        self._chunks = 0
        data = text.encode()
        while data:
            try:
                data = data[os.write(self._input, data) :]
            except BlockingIOError:
                self._wait_for(self._input, select.POLLOUT, None)
            except OSError:
                raise self._death("has closed its input") from None

    def read_line(self, deadline_ns: int | None, is_whole: Callable[[str], object]) -> str | None:
        """The next line; ``None`` when nothing has come by then, on the monotonic clock.

        A part of a line is returned as the line then, or `WHOLE_PART` after its last byte where
        `is_whole` says that it may be one.

        Raises:
            EngineDiedError: it has ended.
            EngineInterruptedError: see `interrupt`.
        """
        is_over = False
        while (line := self._lines.pop()) is None:
            if self._is_silent:
                raise self._death("has closed its output")
            seconds = None
            if deadline_ns is not None:
                seconds = max(0.0, (deadline_ns - time.monotonic_ns()) / NS_PER_SECOND)
            if (part := self._lines.partial) and is_whole(part):
                whole = WHOLE_PART.total_seconds()
                seconds = whole if seconds is None else min(whole, seconds)
            if is_over or not self._hear(seconds):
                return self._lines.pop_partial() or None
            is_over = seconds is not None and seconds <= 0
        return line

    def interrupt(self) -> None:
        """End another thread's wait for the engine, or the next one, by `EngineInterruptedError`."""
        with suppress(OSError):  # it is closed
            os.write(self._interrupt, b"\0")

    def forget_interrupts(self) -> None:
        """Have the next wait go undisturbed, whatever came before."""
        with suppress(OSError):
            os.read(self._interrupted, _CHUNK)

    def sleep(self, seconds: float) -> None:
        """Leave the engine alone for so long.

        Raises:
            EngineInterruptedError: see `interrupt`.
        """
        if self._interrupts.poll(seconds * 1000):
            self._raise_interrupt()

    def stale_lines(self) -> list[str]:
        """What it wrote before anybody asked, without waiting."""
        for _ in range(_STALE_CHUNKS):
            if not self._read_output():
                break
        return self._lines.clear()

    def suspend(self) -> None:
        if not self._is_suspended:
            self._is_suspended = True
            self._tell(_SUSPEND)

    def resume(self) -> None:
        if self._is_suspended:
            self._is_suspended = False
            self._tell(_CONTINUE)

    def close(self, farewell: str = "", grace: timedelta = timedelta(0)) -> None:
        """End it: with a farewell and a grace, then by force, with all that it has started."""
        if not self._is_closed:
            self.ask_to_end(farewell)
            self.finish(time.monotonic() + grace.total_seconds())

    def ask_to_end(self, farewell: str) -> None:
        """Say the farewell; `finish` ends it."""
        if farewell:
            self.resume()
            with suppress(OSError):
                os.write(self._input, farewell.encode())

    def has_ended_by(self, deadline: float) -> bool:
        """Wait until a second of the monotonic clock for it to end by itself."""
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        while not self._ending and (left := deadline - time.monotonic()) > 0:
            poll.poll(left * 1000)
            self._hear_control()
        return bool(self._ending)

    def finish(self, deadline: float) -> None:
        """End it by force at a second of the monotonic clock, or when it has ended by itself."""
        if self._is_closed:
            return
        self.has_ended_by(deadline)
        self._read_errors()
        self._is_closed = True
        self._control.close()
        os.close(self._interrupted)
        os.close(self._interrupt)
        for stream in self._streams:
            with suppress(OSError):
                stream.close()
        try:
            self._launcher.wait(_KILL_SECONDS)
        except subprocess.TimeoutExpired:
            self._launcher.kill()
            self._launcher.wait()

    def _tell(self, command: bytes) -> None:
        with suppress(OSError):
            self._control.send(command)

    def _read_output(self) -> bool:
        """Read what there is; False if there is nothing to be read now."""
        if self._is_silent:
            return False
        try:
            size = self._stdout.readinto(self._buffer)
        except (OSError, ValueError):  # it is closed
            size = 0
        if size is None:
            return False
        self.heard_ns = time.monotonic_ns()
        self._lines.feed(bytes(self._buffer[:size]) or b"\n")
        self._is_silent = not size
        return True

    def _hear(self, seconds: float | None) -> bool:
        """Wait for anything, and take it in; False when nothing came in time."""
        sources = dict(self._poll.poll(None if seconds is None else seconds * 1000))
        if self._interrupted in sources:
            self._raise_interrupt()
        if self._output in sources:
            self._read_output()
            self._chunks += 1
            if self._chunks > _FLOOD_CHUNKS:  # hold nobody else up, however much the engine writes
                self.sleep(_FLOOD_PAUSE)
        elif sources:
            self._read_errors()
            self._hear_control()
            self._is_silent = bool(self._ending)
        return bool(sources)

    def _wait_for(self, stream: int, event: int, seconds: float | None) -> None:
        """Wait for an event of one stream alone."""
        poll = select.poll()
        poll.register(stream, event)
        poll.register(self._interrupted, select.POLLIN)
        events = poll.poll(None if seconds is None else seconds * 1000)
        if any(source == self._interrupted for source, _ in events):
            self._raise_interrupt()

    def _raise_interrupt(self) -> NoReturn:
        self.forget_interrupts()
        raise EngineInterruptedError("nobody waits for the engine any more")

    def _read_errors(self) -> None:
        if self._is_closed or self._has_closed_errors:
            return
        with suppress(OSError, ValueError):
            data = os.read(self._errors, _CHUNK)
            if not data:
                self._has_closed_errors = True
                self._poll.unregister(self._errors)
            self._error_tail = (self._error_tail + data)[-_ERRORS_KEPT:]
            self._show_errors(data)

    def _show_errors(self, data: bytes) -> None:
        if self._errors_to_show > 0 and logger.isEnabledFor(logging.DEBUG):
            for line in data[: self._errors_to_show].decode(errors="replace").splitlines():
                logger.debug("! %s", line)
            self._errors_to_show -= len(data)
            if self._errors_to_show <= 0:
                logger.debug("! the rest of its standard error is left out")

    def _hear_control(self) -> None:
        if self._ending or self._is_closed:
            return
        with suppress(BlockingIOError):
            try:
                said = self._control.recv(_CHUNK)
            except ConnectionError:
                said = b""
            self._ending = said.decode(errors="replace").split("\n")[0] or "lost"

    def _death(self, otherwise: str) -> EngineDiedError:
        """How it ended, which the launcher says as soon as it has killed the rest."""
        self._hear_control()
        if not self._ending and not self._is_closed:
            self._wait_for(self._control.fileno(), select.POLLIN, _DEATH_SECONDS)
            self._hear_control()
        words = f"the engine {_describe(self._ending) if self._ending else otherwise}"
        lines = [_printable(line) for line in self.errors.splitlines()[-_ERROR_LINES:]]
        if lines:
            words += f"; it wrote: {lines[-1]}"
        return EngineDiedError(words, lines)


def _printable(line: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in line[:_ERROR_LENGTH])


def _describe(ending: str) -> str:
    kind, _, detail = ending.partition(" ")
    match kind:
        case "exit":
            return f"has ended with status {detail}"
        case "signal":
            return f"was killed by {signal.Signals(int(detail)).name}"
        case "error":
            return f"can't be started: {detail}"
    return "was ended from outside"

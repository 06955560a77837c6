"""An engine's process: its streams read and written without blocking, its end, its whole family.

It belongs to no event loop: whoever waits, waits on the loop that is running. Nobody reads while
nobody waits, so what an engine writes meanwhile fills a pipe and no memory.
"""

from __future__ import annotations

import asyncio
import logging
import os
import select
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from meijin.bots.bridge.dialogue import EngineDiedError, EngineStartError
from meijin.bots.bridge.settings import EngineLimits

MAX_LINE = 4096
"""Bytes of a line that are kept; the rest of it is dropped."""
_MARKS = "\ufeff\ufffd"
"""A byte order mark, as itself or, where it isn't UTF-8's, as what can't be read."""


class LineBuffer:
    """Cuts bytes into lines, which end in LF, CR or both; empty ones are left out.

    A line holds no NUL and no byte order mark, and what isn't UTF-8 is replaced, so that it can
    be shown. However long a line gets, no more than `MAX_LINE` bytes of it are kept.
    """

    def __init__(self) -> None:
        self._lines: deque[bytes] = deque()
        self._rest = bytearray()

    def feed(self, data: bytes) -> None:
        *ends, rest = data.replace(b"\0", b"").replace(b"\r", b"\n").split(b"\n")
        for end in ends:
            self._keep(end)
            if line := bytes(self._rest).strip():
                self._lines.append(line)
            self._rest.clear()
        self._keep(rest)

    def pop(self) -> str | None:
        """The next whole line, if there is one."""
        return _text(self._lines.popleft()) if self._lines else None

    @property
    def partial(self) -> str:
        """What has come of a line whose end hasn't."""
        return _text(self._rest)

    def pop_partial(self) -> str:
        """Take that as a line."""
        text = self.partial
        self._rest.clear()
        return text

    def _keep(self, part: bytes) -> None:
        self._rest += part[: MAX_LINE - len(self._rest)]


def _text(line: bytes | bytearray) -> str:
    return line.decode(errors="replace").lstrip(_MARKS).strip()


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
        assert self._launcher.stdout is not None
        assert self._launcher.stderr is not None
        self._streams = (self._launcher.stdin, self._launcher.stdout, self._launcher.stderr)
        self._input, self._output, self._errors = (stream.fileno() for stream in self._streams)
        for stream in (self._input, self._output, self._errors):
            os.set_blocking(stream, False)
        self._selector = selectors.DefaultSelector()  # one to wait for in place of three
        for source in (self._output, self._errors, self._control.fileno()):
            self._selector.register(source, selectors.EVENT_READ)
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

    async def write(self, text: str) -> None:
        """Write all of a text, waiting as long as the engine doesn't read.

        Raises:
            EngineDiedError: it has ended.
        """
        self._chunks = 0
        data = text.encode()
        while data:
            try:
                data = data[os.write(self._input, data) :]
            except BlockingIOError:
                await _writable(self._input)
            except OSError:
                raise await self._death("has closed its input") from None

    async def read_line(self, patience: Callable[[str], float | None]) -> str | None:
        """The next line; ``None`` when nothing has come for this many seconds.

        `patience` says how long to wait, given what has come of the line so far. A part of a line
        is returned as the line if it runs out then, so `patience` must be short for those parts
        alone that may be whole.

        Raises:
            EngineDiedError: it has ended.
        """
        is_woken = False
        while (line := self._lines.pop()) is None:
            if self._is_silent:
                raise await self._death("has closed its output")
            if self._read_output():
                await self._yield_to_others()
            elif is_woken and self._has_ended():
                self._is_silent = True
            elif await _readable(self._selector.fileno(), patience(self._lines.partial)):
                is_woken = True
            else:
                return self._lines.pop_partial() or None
        return line

    def stale_lines(self) -> list[str]:
        """What it wrote before anybody asked, without waiting."""
        for _ in range(_STALE_CHUNKS):
            if not self._read_output():
                break
        lines = list(iter(self._lines.pop, None))
        partial = self._lines.pop_partial()
        return [*lines, partial] if partial else lines

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

    def finish(self, deadline: float) -> None:
        """End it by force at a second of the monotonic clock, or when it has ended by itself."""
        if self._is_closed:
            return
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        while not self._ending and (left := deadline - time.monotonic()) > 0:
            poll.poll(left * 1000)
            self._hear_control()
        self._read_errors()
        self._is_closed = True
        self._selector.close()
        self._control.close()
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
            data = os.read(self._output, _CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self._lines.feed(b"\n")
            self._is_silent = True
        self._lines.feed(data)
        return True

    def _has_ended(self) -> bool:
        """Hear what else there is, where there is no output, and whether it is the end."""
        self._read_errors()
        self._hear_control()
        return bool(self._ending)

    def _read_errors(self) -> None:
        if self._is_closed or self._has_closed_errors:
            return
        with suppress(OSError, ValueError):
            data = os.read(self._errors, _CHUNK)
            if not data:
                self._has_closed_errors = True
                self._selector.unregister(self._errors)
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

    async def _yield_to_others(self) -> None:
        """Hold nobody else up, however much the engine writes."""
        self._chunks += 1
        if self._chunks > _FLOOD_CHUNKS:
            await asyncio.sleep(_FLOOD_PAUSE)
        elif self._chunks > 1:
            await asyncio.sleep(0)

    async def _death(self, otherwise: str) -> EngineDiedError:
        """How it ended, which the launcher says as soon as it has killed the rest."""
        self._hear_control()
        if not self._ending and not self._is_closed:
            await _readable(self._control.fileno(), _DEATH_SECONDS)
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


async def _readable(stream: int, seconds: float | None) -> bool:
    """Wait until `stream` can be read; False when it can't in time."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[bool] = loop.create_future()
    timer = None if seconds is None else loop.call_later(seconds, _set, done, False)  # noqa: FBT003
    loop.add_reader(stream, _set, done, True)  # noqa: FBT003
    try:
        return await done
    finally:
        loop.remove_reader(stream)
        if timer is not None:
            timer.cancel()


async def _writable(stream: int) -> None:
    loop = asyncio.get_running_loop()
    done: asyncio.Future[bool] = loop.create_future()
    loop.add_writer(stream, _set, done, True)  # noqa: FBT003
    try:
        await done
    finally:
        loop.remove_writer(stream)


def _set(done: asyncio.Future[bool], value: bool) -> None:  # noqa: FBT001 - a callback
    if not done.done():
        done.set_result(value)

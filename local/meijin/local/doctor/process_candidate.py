"""A candidate that is a process of this machine, and what it leaves behind."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from meijin.local.child import Child, start_child, status_text
from meijin.local.doctor.candidate import Ended
from meijin.wire.contract import SERVER_VARIABLE, TOKEN_VARIABLE

STOP_TIMEOUT = timedelta(seconds=10)
"""What the bot may take to end after SIGTERM."""
FAMILY_TIMEOUT = timedelta(seconds=2)
"""What the processes that it has started may take longer."""
POLL_INTERVAL = timedelta(milliseconds=50)
"""Between two looks whether a process has ended."""
TAIL = 64 * 1024
"""Bytes of the program's output that are looked at, the last ones."""
MAX_LINES, MAX_LINE = 12, 200
"""Lines of it that are shown, and characters of each."""


class ProcessCandidate:
    """A bot's program as a process, started as often as it takes."""

    def __init__(self, command: Sequence[str]) -> None:
        self.command = command
        """Empty where the bot's author starts it."""
        self._child: Child | None = None
        self._token = ""

    def start(self, server: str, token: str, log: Path) -> None:
        """Start the program, which is told by its environment where the server is."""
        self._token = token
        if self.command:
            env = {SERVER_VARIABLE: server, TOKEN_VARIABLE: token, "PYTHONUNBUFFERED": "1"}
            self._child = start_child(self.command, log, env=env, program=())

    def show_dialogue(self) -> None:
        """Have a wrapped engine's dialogue among its lines."""
        wrap = list(self.command).index("wrap") + 1
        self.command = [*self.command[:wrap], "--verbose", *self.command[wrap:]]

    @property
    def is_own(self) -> bool:
        return bool(self.command)

    @property
    def is_running(self) -> bool:
        return self._child is not None and self._child.process.poll() is None

    @property
    def ending(self) -> str:
        """How the process has ended; empty while it runs, and where there is none of ours."""
        if self._child is None or self.is_running:
            return ""
        return f"its process has ended, {status_text(self._child.process.returncode)}"

    @property
    def last_lines(self) -> list[str]:
        """The last lines of what the program has said."""
        if self._child is None:
            return []
        with self._child.log.open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - TAIL))
            lines = log.read().decode(errors="replace").splitlines()
        return [line.rstrip()[:MAX_LINE] for line in lines if line.strip(" ^~")][-MAX_LINES:]

    def stop(self) -> Ended:
        """Tell the process to end, wait for it, and end whatever it has left behind."""
        if self._child is None:
            return Ended()
        process, self._child = self._child.process, None
        begun = time.monotonic()
        family = _family(process.pid, self._token)
        process.terminate()
        try:
            process.wait(STOP_TIMEOUT.total_seconds())
            was_killed = False
        except subprocess.TimeoutExpired:
            was_killed = True
            process.kill()
            process.wait()
        seconds = time.monotonic() - begun
        left = set() if was_killed else _outliving(family)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        for pid in _alive(family):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        return Ended(seconds, was_killed, sorted({family[pid] for pid in left}))


def _family(pid: int, token: str) -> dict[int, str]:
    """The processes that a program has started, by number, each with its name.

    They are those below it, and those that have its token in their environment, wherever they
    are by now. None where the platform has no list.
    """
    processes = _processes()
    found: set[int] = set()
    level = {pid}
    while level:
        level = {child for child in processes if processes[child][0] in level} - found
        found |= level
    found |= {each for each in processes.keys() - {pid} if _has_token(each, token)}
    return {each: processes[each][1] for each in found}


def _has_token(pid: int, token: str) -> bool:
    try:
        return token.encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False


def _outliving(family: Mapping[int, str]) -> set[int]:
    """Those of a family that are alive a while after the process that it is named after."""
    deadline = time.monotonic() + FAMILY_TIMEOUT.total_seconds()
    while (alive := _alive(family)) and time.monotonic() < deadline:
        time.sleep(POLL_INTERVAL.total_seconds())
    return alive


def _alive(family: Mapping[int, str]) -> set[int]:
    """Those of a family that still run under the same name."""
    now = _processes()
    return {pid for pid, name in family.items() if pid in now and now[pid][1:] == (name, False)}


def _processes() -> dict[int, tuple[int, str, bool]]:
    """The parent and the name of every process, and whether it is a zombie, by Linux' /proc."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            before, _, after = stat.read_text(errors="replace").rpartition(")")
            state, parent, *_ = after.split()
            name = before.partition("(")[2]
            found[int(stat.parent.name)] = (int(parent), name, state == "Z")
    return found

"""The candidate: the process of the bot that is examined, and what it leaves behind."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import IO

from meijin.arena.child import PREFIX, status_text
from meijin.server.process.die_with_parent import die_with_parent
from meijin.wire.contract import SERVER_VARIABLE, TOKEN_VARIABLE

STOP_TIMEOUT = timedelta(seconds=10)
"""What the bot may take to end after SIGTERM."""

FAMILY_TIMEOUT = timedelta(seconds=2)
"""What the processes that it has started may take longer."""

READ_TIMEOUT = timedelta(seconds=1)
"""How long the last words of a process that has ended are waited for."""

MAX_OUTPUT = 64 * 1024
"""Bytes of the program's output that are kept, the last ones."""

MAX_LINES = 12
"""Lines of it that are shown."""

MAX_LINE = 200
"""Characters of a line that are shown."""

POLL_INTERVAL = timedelta(milliseconds=50)
"""Between two looks whether a process has ended."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended that was told to."""

    seconds: float
    """What it took."""
    was_killed: bool
    """It did not end by itself."""
    left: Sequence[str]
    """The processes that it left behind, by name."""


class Candidate:
    """A bot's program, started as often as it takes."""

    def __init__(self, command: Sequence[str]) -> None:
        self.command = command
        """Empty where the bot's author starts it."""
        self.starts = 0
        """How often it was started."""
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None
        self._output = bytearray()
        self._token = ""

    def start(self, server: str, token: str) -> None:
        """Start the program, which is told by its environment where the server is."""
        self.starts += 1
        self._token = token
        if not self.command:
            return
        self._output = output = bytearray()
        self._process = subprocess.Popen(
            die_with_parent(self.command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=_environment(server, token),
            start_new_session=True,
        )
        assert self._process.stdout is not None
        self._reader = threading.Thread(
            target=_keep_tail, args=(self._process.stdout, output), name="output", daemon=True
        )
        self._reader.start()

    @property
    def is_running(self) -> bool:
        """Whether there is a process of ours that has not ended."""
        return self._process is not None and self._process.poll() is None

    @property
    def ending(self) -> str:
        """How the process has ended; empty while it runs, and where there is none of ours."""
        if self._process is None or self._process.poll() is None:
            return ""
        return f"its process has ended, {status_text(self._process.returncode)}"

    @property
    def last_lines(self) -> list[str]:
        """The last lines of what the program has said."""
        if self._reader is not None and self.ending:
            self._reader.join(READ_TIMEOUT.total_seconds())
        lines = bytes(self._output).decode(errors="replace").splitlines()
        told = [line.rstrip()[:MAX_LINE] for line in lines if line.strip(" ^~")]
        return told[-MAX_LINES:]

    def stop(self) -> Ended:
        """Tell the process to end, wait for it, and end whatever it has left behind."""
        process, self._process = self._process, None
        if process is None:
            return Ended(0, was_killed=False, left=())
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
        left = {} if was_killed else _outliving(family)
        _end_group(process.pid)
        for pid in family.keys() & _alive(family):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        assert self._reader is not None
        self._reader.join(READ_TIMEOUT.total_seconds())
        return Ended(seconds, was_killed, sorted(set(left.values())))


def _environment(server: str, token: str) -> dict[str, str]:
    """This command's environment, with the doctor's server in the place of any other."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(PREFIX)}
    return kept | {SERVER_VARIABLE: server, TOKEN_VARIABLE: token, "PYTHONUNBUFFERED": "1"}


def _keep_tail(pipe: IO[bytes], output: bytearray) -> None:
    """Read what a program says as long as it does, and keep the end of it."""
    with pipe, suppress(OSError):
        while data := os.read(pipe.fileno(), MAX_OUTPUT):
            output += data
            del output[:-MAX_OUTPUT]


def _family(pid: int, token: str) -> dict[int, str]:
    """The processes that a program has started, by number, each with its name.

    They are those below it, and those that have its token in their environment, wherever they
    are by now. None where the platform has no list.
    """
    processes = _processes()
    found: dict[int, str] = {}
    level = {pid}
    while level:
        level = {child for child in processes if processes[child][0] in level} - found.keys()
        found |= {child: processes[child][1] for child in level}
    for each, (_, name, _) in processes.items():
        if each != pid and each not in found and _is_told(each, token):
            found[each] = name
    return found


def _is_told(pid: int, token: str) -> bool:
    """Whether a process has a token in its environment."""
    try:
        return token.encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False


def _outliving(family: Mapping[int, str]) -> dict[int, str]:
    """Those of a family that are alive a while after the process that it is named after."""
    deadline = time.monotonic() + FAMILY_TIMEOUT.total_seconds()
    while (alive := _alive(family)) and time.monotonic() < deadline:
        time.sleep(POLL_INTERVAL.total_seconds())
    return {pid: family[pid] for pid in alive}


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


def _end_group(pid: int) -> None:
    """Kill what is left of a process's group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)

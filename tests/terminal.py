"""A command in a pseudo-terminal, as a person sees and operates it."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from select import select

PATIENCE = 60.0
"""Seconds that the screen may take to show something before a test gives up."""


class Terminal:
    """A process whose input and output is a terminal of a given size."""

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        columns: int = 80,
        lines: int = 30,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        environment = {**(os.environ if env is None else env), "TERM": "xterm-256color"}
        for name in ("COLUMNS", "LINES", "NO_COLOR"):
            environment.pop(name, None)
        self._process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=cwd
        )
        os.close(theirs)
        self.shown = ""
        """Everything that was written, with what moves the cursor."""
        self._mark = 0

    def wait_for(self, text: str) -> None:
        """Read until a text is on the screen that was not there before the last key."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.shown[self._mark :]:
            assert self._read(deadline - time.monotonic()), f"no {text!r} in {self.shown!r}"

    def press(self, keys: str) -> None:
        """Send keys."""
        self._mark = len(self.shown)
        os.write(self._ours, keys.encode())

    def close(self) -> None:
        """End the process, if it runs."""
        self._process.kill()
        self._process.wait()

    def wait(self) -> int:
        """Read to the end, and return the exit status."""
        deadline = time.monotonic() + PATIENCE
        while self._read(deadline - time.monotonic()):
            pass
        os.close(self._ours)
        return self._process.wait(PATIENCE)

    def _read(self, patience: float) -> bool:
        if not select([self._ours], [], [], max(patience, 0))[0]:
            return False
        try:
            read = os.read(self._ours, 65536)
        except OSError:  # Linux's end of a terminal
            return False
        self.shown += read.decode(errors="replace")
        return bool(read)

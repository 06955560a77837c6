"""A pseudo-terminal with a command in it, and what stands on its screen."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread

from tests.processes import MEIJIN, PATIENCE, Commands, environment, eventually

TOKEN = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|[\r\n]|[^\x1b\r\n]", re.DOTALL)
LINES = 500

TAKE_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""What has Ctrl-C reach the command that it becomes."""


class Screen:
    """What a terminal shows of what it is sent: lines that wrap, and the cursor's own moves."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._rows: list[list[str]] = [[]]
        self._row = self._column = 0

    def write(self, text: str) -> None:
        for token in TOKEN.finditer(text):
            if token[2]:
                self._control(token[1], token[2])
            elif token[0] == "\r":
                self._column = 0
            elif token[0] == "\n":
                self._down()
            else:
                self._put(token[0])

    @property
    def lines(self) -> list[str]:
        return [line for row in self._rows if (line := "".join(row).rstrip())]

    def shows(self, text: str) -> bool:
        return any(text in line for line in self.lines)

    def _control(self, parameters: str, verb: str) -> None:
        if verb == "A":
            self._row = max(self._row - int(parameters or 1), 0)
        elif verb == "H" and not parameters:
            self._row = self._column = 0
        elif verb == "K":
            self._rows[self._row] = (
                [] if parameters == "2" else self._rows[self._row][: self._column]
            )

    def _down(self) -> None:
        self._row += 1
        if self._row == len(self._rows):
            self._rows.append([])

    def _put(self, character: str) -> None:
        if self._column == self.width:
            self._column = 0
            self._down()
        row = self._rows[self._row]
        row.extend(" " * (self._column + 1 - len(row)))
        row[self._column] = character
        self._column += 1


class Terminal:
    """A `meijin` command in a pseudo-terminal."""

    def __init__(self, commands: Commands, width: int, *words: str) -> None:
        self.screen = Screen(width)
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, width, 0, 0))
        kept = environment(commands.folder, {"TERM": "xterm", **commands.env})
        del kept["COLUMNS"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", TAKE_TERMINAL, *MEIJIN, *words],
            cwd=commands.folder,
            env=kept,
            start_new_session=True,
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )
        os.close(slave)
        self._reader = Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        with suppress(OSError):  # how Linux tells of the end
            while data := os.read(self._master, 1 << 16):
                self.screen.write(data.decode(errors="replace"))

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def wait(self) -> int:
        status = self._process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return status

    def wait_for(self, text: str) -> None:
        eventually(lambda: self.screen.shows(text) or self._process.poll() is not None)
        assert self.screen.shows(text), "\n".join(self.screen.lines)


@contextmanager
def terminal(commands: Commands, width: int, *words: str) -> Iterator[Terminal]:
    """A command in a pseudo-terminal this many columns wide."""
    opened = Terminal(commands, width, *words)
    try:
        yield opened
    finally:
        opened._process.kill()
        opened.wait()
        os.close(opened._master)

"""An engine of the Gomocup protocol that answers at once, in C where there is a compiler.

It takes the first cell that is free, and so makes a five with the 61st stone of a board of 15x15
where both sides do. Where the variable LINE_ENGINE_TALLY names a folder, it takes cells in an order
that differs from game to game, as instant bots do, and counts its moves in a file there, in eight
bytes as `tally.py` reads them.

With an argument it waits for that many milliseconds before each move, takes the first free cell in
any case, and adds three numbers to its file: the nanoseconds of its waiting, from the line that
asked for the move on, those of its processor time, and since when it waits; 0 while it doesn't.
"""

import mmap
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TALLY = "LINE_ENGINE_TALLY"
ENGINE = "line-engine"
"""The name of the program."""
SIZE = 32
"""Bytes of a file."""
SOURCE = Path(__file__).with_name("line_engine.c")


@contextmanager
def engine() -> Iterator[Path]:
    """A program that is the engine."""
    with tempfile.TemporaryDirectory(prefix="meijin-engine-") as folder:
        program = Path(folder) / ENGINE
        compiler = shutil.which("cc")
        if compiler is None:
            program.write_text(f"#!{sys.executable} -SE\n{Path(__file__).read_text()}")
            program.chmod(0o700)
        else:
            subprocess.run([compiler, "-O2", "-w", "-o", program, SOURCE], check=True)
        yield program


class LineEngine:
    """The engine in Python."""

    def __init__(self, folder: str | None, think_ms: float | None = None) -> None:
        self._is_shuffled = folder is not None and think_ms is None
        self._think_ms = think_ms
        self._asked_ns = 0
        self._tally = memoryview(bytearray(SIZE) if folder is None else _counter(folder)).cast("q")
        self._games = 0
        self._width = 15
        self._taken: set[int] = set()
        self._order: list[int] = []
        self._new_game()

    def answer(self, line: str) -> str:
        """What it says to a line; empty for nothing."""
        self._asked_ns = time.monotonic_ns()
        word, _, rest = line.strip().partition(" ")
        if word in {"START", "RESTART"}:
            self._width = int(rest or self._width)
            self._new_game()
            return "OK"
        if word == "ABOUT":
            return 'name="instant", version="1"'
        if word == "TURN":
            self._take(rest)
        elif word == "BOARD":
            self._taken.clear()
            while (stone := sys.stdin.readline().strip()) != "DONE":
                self._take(stone)
        return self._move() if word in {"BEGIN", "TURN", "BOARD"} else ""

    def _new_game(self) -> None:
        self._games += 1
        self._taken.clear()
        self._order = list(range(self._width**2))
        state = self._games
        for i in range(len(self._order) - 1, 0, -1) if self._is_shuffled else ():
            state = (state * 1664525 + 1013904223) % 2**32
            j = (state >> 8) % (i + 1)
            self._order[i], self._order[j] = self._order[j], self._order[i]

    def _move(self) -> str:
        cell = next(cell for cell in self._order if cell not in self._taken)
        self._taken.add(cell)
        self._tally[0] += 1
        if self._think_ms is not None:
            self._think(self._think_ms)
        return f"{cell % self._width},{cell // self._width}"

    def _think(self, milliseconds: float) -> None:
        self._tally[3] = self._asked_ns
        left_ns = self._asked_ns + int(milliseconds * 1e6) - time.monotonic_ns()
        if left_ns > 0:
            time.sleep(left_ns / 1e9)
        self._tally[3] = 0
        self._tally[1] += time.monotonic_ns() - self._asked_ns
        self._tally[2] = time.process_time_ns()

    def _take(self, text: str) -> None:
        x, y = text.split(",")[:2]
        self._taken.add(int(y) * self._width + int(x))


def _counter(folder: str) -> mmap.mmap:
    path = Path(folder) / str(os.getpid())
    path.write_bytes(bytes(SIZE))
    with path.open("r+b") as file:
        return mmap.mmap(file.fileno(), SIZE)


def main() -> None:
    """Answer until the input ends."""
    think_ms = float(sys.argv[1]) if len(sys.argv) > 1 else None
    played = LineEngine(os.environ.get(TALLY), think_ms)
    for line in sys.stdin:
        if line.startswith("END"):
            break
        if answer := played.answer(line):
            print(answer, flush=True)


if __name__ == "__main__":
    main()

"""Runs a module as `named_threads.py` does, and tells others the longest turn of its event loop.

    python benchmarks/timed_turns.py FILE MODULE [ARGUMENT ...]

The longest turn is kept in FILE, eight bytes of nanoseconds of the loop's processor time in the
machine's order; whoever writes 0 there has it found anew.
"""

import mmap
import os
import selectors
import sys
from pathlib import Path

import named_threads
from turn_selector import TurnSelector

WORD = 8
NS_PER_MS = 1_000_000


class LongestTurn:
    """The longest turn of another process's event loop, as its file tells it."""

    def __init__(self, path: Path) -> None:
        self.words = _mapped(path)

    def begin(self) -> None:
        """Have it found anew from now on."""
        self.words[0] = 0

    @property
    def ms(self) -> float:
        """Processor time of the loop's thread."""
        return self.words[0] / NS_PER_MS


def _mapped(path: Path) -> memoryview:
    number = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        os.ftruncate(number, WORD)
        return memoryview(mmap.mmap(number, WORD)).cast("q")
    finally:
        os.close(number)


def tell_turns(path: Path) -> None:
    """Have every event loop that is made from now on tell its longest turn in a file."""
    longest = LongestTurn(path).words

    class ToldSelector(TurnSelector):
        def end_turn(self, spent_ns: int) -> None:
            longest[0] = max(longest[0], spent_ns)

    selectors.DefaultSelector = ToldSelector  # type: ignore[misc]


if __name__ == "__main__":
    del sys.argv[0], sys.path[0]  # the module's own imports are not looked for beside this file
    tell_turns(Path(sys.argv.pop(0)))
    named_threads.run_module()

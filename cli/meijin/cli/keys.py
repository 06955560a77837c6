"""Keys of a terminal, one by one, on Unix and on Windows."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_KEY = re.compile(r"\x1b(?:\[[0-9;]*[A-Za-z~]|O[A-Z])|.", re.DOTALL)
"""An arrow and its like, which come as several characters, or one character."""


def split_keys(text: str) -> list[str]:
    """The keys whose characters came together."""
    return _KEY.findall(text)


@contextmanager
def pressed_keys() -> Iterator[Iterator[str]]:
    """The keys that are pressed from now on, none of them lost between two looks.

    They end with the input. Ctrl-C interrupts as ever.
    """
    if sys.platform == "win32":
        yield _windows_keys()
    else:
        import termios  # noqa: PLC0415 - missing on Windows, as the next
        import tty  # noqa: PLC0415

        before = termios.tcgetattr(sys.stdin)
        tty.setcbreak(sys.stdin)
        try:
            yield _unix_keys()
        finally:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _unix_keys() -> Iterator[str]:
    while text := os.read(sys.stdin.fileno(), 1024):
        yield from split_keys(text.decode(errors="replace"))


if sys.platform == "win32":

    def _windows_keys() -> Iterator[str]:
        import msvcrt  # noqa: PLC0415 - missing elsewhere

        while True:
            key = msvcrt.getwch()
            if key == "\x03":
                raise KeyboardInterrupt
            yield key + msvcrt.getwch() if key in "\x00\xe0" else key

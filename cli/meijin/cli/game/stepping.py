"""Stepping through a game by keys, on the whole of a terminal."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rich.console import Group
from rich.text import Text

from meijin.cli.errors import CommandError
from meijin.cli.game.view import board_text, headline, ply_text, state_text
from meijin.cli.output import console, printable
from meijin.v1 import game_pb2

HELP = "arrows or h l: one ply, j k: ten, g G: begin and end, q: quit"

LEAP = 10
"""Plies of a leap."""

_STEPS = {
    **dict.fromkeys(("l", "n", " ", "\x1b[C", "\x1bOC", "\xe0M"), 1),
    **dict.fromkeys(("h", "p", "\x1b[D", "\x1bOD", "\xe0K"), -1),
    **dict.fromkeys(("j", "\x1b[B", "\x1bOB", "\x1b[6~", "\xe0P", "\xe0Q"), LEAP),
    **dict.fromkeys(("k", "\x1b[A", "\x1bOA", "\x1b[5~", "\xe0H", "\xe0I"), -LEAP),
}
"""Plies of a key: letters, and what arrows send on Unix and on Windows."""
_BEGIN = frozenset({"g", "\x1b[H", "\x1bOH", "\x1b[1~", "\xe0G"})
_END = frozenset({"G", "\x1b[F", "\x1bOF", "\x1b[4~", "\xe0O"})
_QUIT = frozenset({"q", "Q", "\x1b"})


def step_through(game: game_pb2.Game, ply: int) -> None:
    """Show a game from a ply on, and others as keys ask for them, until one quits."""
    if not (console.is_terminal and sys.stdin.isatty()):
        raise CommandError("--step needs a terminal; --ply shows one position")
    with suppress(KeyboardInterrupt), pressed_keys() as keys, console.screen() as screen:
        screen.update(_page(game, ply))
        for key in keys:
            if key in _QUIT:
                return
            ply = stepped(key, ply, len(game.moves))
            screen.update(_page(game, ply))


def stepped(key: str, ply: int, last: int) -> int:
    """The ply that a key leads to from another, within the game; others lead nowhere."""
    if key in _BEGIN:
        return 0
    if key in _END:
        return last
    return max(0, min(last, ply + _STEPS.get(key, 0)))


def _page(game: game_pb2.Game, ply: int) -> Group:
    is_end = ply == len(game.moves)
    return Group(
        _line(headline(game)),
        board_text(game, ply),
        _line(ply_text(game, ply)),
        _line(state_text(game) if is_end else ""),
        _line(HELP, "dim"),
    )


def _line(text: str, style: str = "") -> Text:
    return Text(printable(text), style=style, no_wrap=True, overflow="ellipsis")


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

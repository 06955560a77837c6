"""The live line: one line at the foot of the screen that tells how far a tournament is.

It is never as wide as the screen, so that it can't wrap, and nothing of it stays behind.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import NamedTuple

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from meijin.cli.output import printable

GAP = "  "
BAR = 24
"""Columns of the bar."""
MARGIN = 3
"""Columns that stay free, such as for the ``^C`` that a terminal writes there."""
SHORTEST_NOTE = 12
"""Columns below which a note says nothing."""


@dataclass(slots=True)
class LiveLine:
    """What is known of a tournament that goes on."""

    name: str
    clock: Callable[[], float] = time.monotonic
    total: int | None = None
    """Games there are to be, if that is known."""
    done: int = 0
    """Games with a result."""
    standing: Sequence[str] = ()
    """What a test or a ladder has come to, the most important first."""
    faults: Sequence[int] = ()
    """Games forfeited by each of two bots; empty where there are more bots."""
    note: str = ""
    _begin: float = field(init=False)
    _done_before: int | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._begin = self.clock()

    def set_done(self, done: int) -> None:
        """Note how many games have a result; the first time these were played before."""
        if self._done_before is None:
            self._done_before = done
        self.done = done

    def remaining(self) -> timedelta | None:
        """How long the rest takes at the speed so far; ``None`` while nobody knows."""
        played = self.done - (self._done_before or 0)
        if self.total is None or played <= 0 or self.done > self.total:
            return None
        seconds = (self.clock() - self._begin) * (self.total - self.done) / played
        return timedelta(seconds=round(seconds))

    def text(self, width: int) -> str:
        """The line, with as much in it as the columns of a screen have room for."""
        room = width - MARGIN
        parts = _fitting(self._parts(), room)
        line = GAP.join(parts)
        left = room - len(line) - len(GAP)
        note = printable(self.note)
        if note and left >= SHORTEST_NOTE:
            line += GAP + (note if len(note) <= left else f"{note[: left - 1]}…")
        return line

    def _parts(self) -> list["_Part"]:
        elapsed = str(timedelta(seconds=int(self.clock() - self._begin)))
        remaining = self.remaining()
        parts = [_Part(self.name, 6)]
        if self.total:
            parts.append(_Part(_bar(self.done / self.total), 7))
        if not self.standing:
            parts.append(_Part(f"{self.done}/{self.total or '?'}", 0))
        parts += [_Part(text, place) for place, text in enumerate(self.standing, 1)]
        parts.append(_Part(elapsed, 2))
        if remaining is not None and not self.standing:
            parts.append(_Part(f"{remaining} left", 3))
        if any(self.faults):
            parts.append(_Part(f"faults {' and '.join(map(str, self.faults))}", 1))
        return parts

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(self.text(options.max_width), no_wrap=True, overflow="crop", end="")


class _Part(NamedTuple):
    text: str
    rank: int
    """The lowest are kept where there is no room for all."""


def _fitting(parts: Iterable[_Part], room: int) -> list[str]:
    """The most important of the parts that fit side by side."""
    kept = list(parts)
    while len(kept) > 1 and len(GAP.join(part.text for part in kept)) > room:
        kept.remove(max(kept, key=lambda part: part.rank))
    return [part.text[:room] for part in kept]


def _bar(share: float) -> str:
    full = round(BAR * min(share, 1))
    return "━" * full + "─" * (BAR - full)

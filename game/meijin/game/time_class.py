"""Classes of time controls: bullet, blitz and their like, of each of which a ladder is one."""

import re
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import Self

from meijin.game.clock import TimeControl, format_seconds, parse_seconds

TYPICAL_MOVES = 40
"""A side's moves in the game that a class is reckoned by."""

MAX_CLASSES = 10

_NAME = re.compile(r"[a-z]{1,20}")
_FORM = re.compile(r"(?P<name>[a-z]+) (?P<least>[0-9.]+)-(?P<bound>[0-9.]+)?")
_HINT = 'write names with the seconds they end at, as in "blitz=120,rapid=600,classical"'
_RESERVED = frozenset({"line", "mixed"})
"""Words of ladders' names that no class can have."""


def thinking_time(control: TimeControl) -> timedelta:
    """What a side may think in a game of 40 moves: on its clock, or at most so much a move.

    That is the initial time and 40 increments, or 40 times the move limit, whichever is less.
    """
    bounds = []
    if control.initial is not None:
        bounds.append(control.initial + TYPICAL_MOVES * control.increment)
    if control.per_move is not None:
        bounds.append(TYPICAL_MOVES * control.per_move)
    return min(bounds)


@dataclass(frozen=True, slots=True)
class TimeClass:
    """A class of time controls, by a side's thinking time: ``blitz 20-120``."""

    name: str
    least: timedelta = timedelta(0)
    bound: timedelta | None = None
    """It begins at `least` and ends before this; ``None`` for no end."""

    def __str__(self) -> str:
        bound = "" if self.bound is None else format_seconds(self.bound)
        return f"{self.name} {format_seconds(self.least)}-{bound}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what `str` writes.

        Raises:
            ValueError: the form is wrong.
        """
        form = _FORM.fullmatch(text)
        if form is None:
            raise ValueError(f'"{text}" is no class of time controls, such as "blitz 20-120"')
        bound = None if form["bound"] is None else parse_seconds(form["bound"])
        return cls(form["name"], parse_seconds(form["least"]), bound)


@dataclass(frozen=True, slots=True)
class TimeClasses:
    """The classes that a server tells apart, without a gap: ``bullet=20,blitz=120,rapid``."""

    classes: tuple[TimeClass, ...]
    """The fastest first."""

    def __str__(self) -> str:
        *bounded, last = self.classes
        ends = [
            f"{each.name}={format_seconds(each.bound)}"
            for each in bounded
            if each.bound is not None
        ]
        return ",".join([*ends, last.name])

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what `str` writes; there may be spaces around the commas.

        Raises:
            ValueError: a name or a number is wrong, or the bounds do not rise.
        """
        *bounded, last = (part.strip() for part in text.split(","))
        if len(bounded) >= MAX_CLASSES:
            raise ValueError(f"{len(bounded) + 1} classes; at most {MAX_CLASSES}")
        names, bounds = [], [timedelta(0)]
        for part in bounded:
            name, _, seconds = part.partition("=")
            names.append(name)
            try:
                bounds.append(parse_seconds(seconds))
            except ValueError:
                raise ValueError(f'"{part}" names no bound in seconds; {_HINT}') from None
        _check([*names, last], bounds)
        ended = map(TimeClass, names, bounds, bounds[1:])
        return cls((*ended, TimeClass(last, bounds[-1])))

    def of(self, control: TimeControl) -> TimeClass:
        time = thinking_time(control)
        return next(each for each in self.classes if each.bound is None or time < each.bound)


def _check(names: list[str], bounds: list[timedelta]) -> None:
    for name in names:
        if not _NAME.fullmatch(name) or name in _RESERVED:
            raise ValueError(f'"{name}" can\'t name a class: 1 to 20 small letters; {_HINT}')
    if len(set(names)) < len(names):
        raise ValueError(f"two classes have the same name; {_HINT}")
    if any(upper <= lower for lower, upper in pairwise(bounds)):
        raise ValueError(f"the bounds must rise from class to class; {_HINT}")


TIME_CLASSES = TimeClasses.parse("ultrabullet=4,bullet=20,blitz=120,rapid=600,classical")
"""Those of a server that was told no others.

By the time of a move they end at 0.1, 0.5, 3 and 15 s.
"""

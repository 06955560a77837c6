"""Time controls, the clock of a game under one, and durations written as decimal seconds."""

import re
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Self

from meijin.game.color import Seat

MICROSECOND = timedelta(microseconds=1)

_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}
"""Of a unit."""
_PARTS = {"ms": 1000}
"""Of a second."""
_SECONDS_FORM = re.compile(r"([0-9]{1,12})(?:\.([0-9]{1,6}))?")


def format_seconds(duration: timedelta) -> str:
    """Write a duration of zero or more as ``60``, ``0.5`` or ``0.000001``."""
    whole, micros = divmod(duration // MICROSECOND, 1_000_000)
    return f"{whole}.{micros:06d}".rstrip("0").rstrip(".")


def parse_seconds(text: str) -> timedelta:
    """Read what `format_seconds` writes; zeros at the end may stay.

    Raises:
        ValueError: the text is no number of seconds, or finer than a microsecond.
    """
    form = _SECONDS_FORM.fullmatch(text)
    if form is None:
        raise ValueError(f'"{text}" is no number of seconds; write it like "60" or "0.5"')
    return timedelta(seconds=int(form[1]), microseconds=int((form[2] or "").ljust(6, "0")))


def parse_duration(text: str) -> timedelta:
    """Read a number of seconds, or one with its unit: ``60``, ``60s``, ``1.5m``, ``500ms``.

    Raises:
        ValueError: the text is no duration, or finer than a microsecond.
    """
    number = text.rstrip("mhs")
    unit = text[len(number) :]
    duration = parse_seconds(number)
    try:
        return duration * _SECONDS[unit] if unit in _SECONDS else duration // _PARTS[unit]
    except OverflowError:
        raise ValueError(f'"{text}" is longer than a duration may be') from None


LONGEST = timedelta(days=7)
"""The upper limit of every duration in a time control."""

_DURATION = r"[0-9.]+(?:ms|s|m|h)?"
_FORM = re.compile(
    rf"(?:(?P<initial>{_DURATION})(?:\+(?P<increment>{_DURATION}))?)?"
    rf"(?:(?(initial),)(?P<per_move>{_DURATION})/move)?(?P<cpu> *cpu)?"
)
_HINT = (
    'write seconds in one of the forms "60", "60+0.5", "5/move" and "60+0.5,5/move", with the word '
    '"cpu" behind it for processor time'
)
_NAMES = {
    "initial": "the time on the clock",
    "increment": "the increment",
    "per_move": "the time per move",
}
_NO_CAP = 1 << 62
_ZERO = timedelta(0)


@dataclass(frozen=True, slots=True)
class TimeControl:
    """What each side gets to think, in seconds: ``60+0.5``, ``5/move`` or ``60+0.5,5/move cpu``."""

    initial: timedelta | None = None
    """On each side's clock at the start; without it there is no clock, just `per_move`."""
    increment: timedelta = _ZERO
    """Added after each of the side's own moves; needs `initial`."""
    per_move: timedelta | None = None
    """The most that a single move may take."""
    cpu: bool = False
    """Processor time is charged, and not what a clock on the wall shows: `cpu_charge`."""

    def __post_init__(self) -> None:
        if self.initial is None and self.per_move is None:
            raise ValueError("a time control needs an initial time, a time per move, or both")
        if self.initial is None and self.increment:
            raise ValueError(f"increment {self.increment} needs an initial time")
        for name in ("initial", "increment", "per_move"):
            duration: timedelta | None = getattr(self, name)
            if duration is None or (name == "increment" and duration == _ZERO):
                continue
            if not _ZERO < duration <= LONGEST:
                limit = format_seconds(LONGEST)
                raise ValueError(
                    f"{_NAMES[name]} has to be more than 0 and at most {limit} s (7 days)"
                )

    def __str__(self) -> str:
        parts = []
        if self.initial is not None:
            increment = f"+{format_seconds(self.increment)}" if self.increment else ""
            parts.append(format_seconds(self.initial) + increment)
        if self.per_move is not None:
            parts.append(f"{format_seconds(self.per_move)}/move")
        return ",".join(parts) + (" cpu" if self.cpu else "")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what `str` writes; a duration may have a unit, such as in ``1m+1s`` or ``500ms/move``.

        Raises:
            ValueError: the form is wrong, or a duration is out of range.
        """
        form = _FORM.fullmatch(text.strip())
        if form is None:
            raise ValueError(f'"{text}" is no time control; {_HINT}')
        try:
            return cls(
                initial=_optional_seconds(form["initial"]),
                increment=_optional_seconds(form["increment"]) or _ZERO,
                per_move=_optional_seconds(form["per_move"]),
                cpu=form["cpu"] is not None,
            )
        except ValueError as error:
            raise ValueError(f'"{text}" is no time control: {error}; {_HINT}') from error


def _optional_seconds(text: str | None) -> timedelta | None:
    return None if text is None else parse_duration(text)


WALL_SHARE = 10
"""Where processor time is charged, one in this many parts of what has passed is the least charge."""


def cpu_charge(wall_ns: int, cpu_ns: int) -> int:
    """What a move is charged by a time control of processor time, in nanoseconds.

    A program that has a core for itself uses what passes. One that sleeps is charged a tenth of that,
    or a game of it would never end.
    """
    return max(cpu_ns, wall_ns // WALL_SHARE)


class Clock:
    """Both players' time in one game, told how much of it has passed.

    It counts whole nanoseconds, the form of `time.monotonic_ns`: the server charges it once
    per move in its hot loop, where making a `timedelta` (0.3 microseconds) costs more than
    the whole charge (0.2).
    """

    __slots__ = ("_cap", "_increment", "_left", "_runs", "controls")

    def __init__(self, time_control: TimeControl) -> None:
        self.controls, start, self._increment, self._cap = _terms(time_control)
        """What each seat gets, the first one's first."""
        self._runs = time_control.initial is not None
        self._left = [0, start, start]  # by the value of a Seat

    @classmethod
    def of(cls, first: TimeControl, second: TimeControl) -> "Clock":
        """The clock of a game whose seats may have different time controls."""
        return cls(first) if first == second else SidedClock(first, second)

    def budget_ns(self, seat: Seat) -> int:
        """The nanoseconds that `seat` may spend on its next move."""
        return min(self._left[seat], self._cap)

    def left_ns(self, seat: Seat) -> int:
        """The nanoseconds on the clock of `seat`; without a clock, the time per move."""
        return self._left[seat]

    def charge(self, seat: Seat, spent_ns: int) -> bool:
        """Take the nanoseconds of one move off the clock of `seat`, and add the increment.

        False means that the move took more than the budget; the clock is as before. A move
        that took the budget to the last nanosecond is in time.

        Raises:
            ValueError: `spent_ns` is negative.
        """
        if spent_ns < 0:
            raise ValueError(f"a move can't take {spent_ns} ns; charge 0 or more")
        if spent_ns > self._left[seat] or spent_ns > self._cap:
            return False
        if self._runs:
            self._left[seat] += self._increment - spent_ns
        return True

    def drop_flag(self, seat: Seat) -> None:
        """Leave `seat` nothing: it has overstepped its time."""
        self._left[seat] = 0


class SidedClock(Clock):
    """A clock whose seats have different time controls.

    A class of its own, so that the others pay no look-up by seat for each move.
    """

    __slots__ = ("_sides",)

    def __init__(self, first: TimeControl, second: TimeControl) -> None:
        super().__init__(first)
        self.controls = (first, second)
        self._sides = (Clock(first), Clock(first), Clock(second))  # by the value of a Seat
        self._left[Seat.SECOND] = self._sides[Seat.SECOND].left_ns(Seat.SECOND)

    def budget_ns(self, seat: Seat) -> int:
        return self._sides[seat].budget_ns(seat)

    def charge(self, seat: Seat, spent_ns: int) -> bool:
        side = self._sides[seat]
        is_in_time = side.charge(seat, spent_ns)
        self._left[seat] = side.left_ns(seat)
        return is_in_time

    def drop_flag(self, seat: Seat) -> None:
        self._sides[seat].drop_flag(seat)
        super().drop_flag(seat)


@lru_cache(maxsize=256)
def _terms(control: TimeControl) -> tuple[tuple[TimeControl, TimeControl], int, int, int]:
    """What the clocks of a time control share: both controls, and three times in nanoseconds.

    They are the time at the start, the increment, and the most for one move.
    """
    cap = _nanoseconds(control.per_move) or _NO_CAP
    start = _nanoseconds(control.initial) or cap
    return (control, control), start, _nanoseconds(control.increment), cap


def _nanoseconds(duration: timedelta | None) -> int:
    return 0 if duration is None else duration // MICROSECOND * 1000

"""Parameters: what is tuned, each between two values."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

_RANGE = re.compile(r"(?:option\.)?([^=\s]+)=(.+?)\.\.(.+)")
_INTEGER = re.compile(r"[+-]?\d+")
DIGITS = 6
"""Of a value that is no integer."""
BETWEEN = 0.381966
"""The golden section of a range, which of no usual range is an integer."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """An option of a bot or an engine, and its range."""

    name: str
    low: float
    high: float
    start: float
    is_integer: bool

    @classmethod
    def parse(cls, text: str, options: Mapping[str, str]) -> Self:
        """Read one such as ``depth=1..9`` or ``margin=0.5..2.0``.

        It is of integers where both ends are; then so is the value to start from.

        Args:
            options: With the value to start from; else that is the middle.

        Raises:
            ValueError: it is none, or the range holds one value or none.
        """
        match = _RANGE.fullmatch(text)
        if match is None:
            raise ValueError(f'"{text}" is no range; write it as NAME=1..9 or NAME=0.5..2.0')
        name, *ends = match.groups()
        given = options.get(name)
        is_integer = all(_INTEGER.fullmatch(end) for end in ends)
        low, high = (_number(end, text) for end in ends)
        if low == high:
            raise ValueError(f'"{text}" holds one value; there is nothing to tune')
        if low > high:
            raise ValueError(f'"{text}" is the wrong way round; the lower end comes first')
        start = (low + high) / 2 if given is None else _number(given, f"{name}={given}")
        if is_integer and given is not None and not _INTEGER.fullmatch(given):
            raise ValueError(
                f"{name} starts at {given}, and {ends[0]}..{ends[1]} is of integers; "
                f"write {ends[0]}.0..{ends[1]}.0, or start at one"
            )
        if not low <= start <= high:
            raise ValueError(f"{name} starts at {given}, which is not in {ends[0]}..{ends[1]}")
        return cls(name, low, high, start, is_integer)

    def clipped(self, value: float) -> float:
        return min(self.high, max(self.low, value))

    def text(self, value: float, fraction: float = 0.5) -> str:
        """A value as the bot is given it; of integers, the one above by chance.

        Args:
            fraction: Drawn evenly from 0 to 1, so that integers have the value as their mean;
                with 0.5 the nearest one.
        """
        if self.is_integer:
            return str(int(self.clipped(math.floor(value + fraction))))
        return f"{value:.{DIGITS}g}"


def tried_values(parameters: Sequence[Parameter]) -> dict[str, dict[str, str]]:
    """Values by which it is seen whether a side takes what it will be given, each with a name.

    The ends of the ranges; with floats one that is no integer, since a side may want these.
    """
    shares = {"low": 0.0, "high": 1.0}
    if not all(each.is_integer for each in parameters):
        shares["between"] = BETWEEN
    return {
        name: {
            each.name: each.text(each.low + share * (each.high - each.low)) for each in parameters
        }
        for name, share in shares.items()
    }


def _number(text: str, whole: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f'"{text}" in "{whole}" is no number')
    return number


def parse_parameters(texts: Sequence[str], options: Mapping[str, str]) -> list[Parameter]:
    """Read all that is tuned at once.

    Raises:
        ValueError: as `Parameter.parse`, or two have one name.
    """
    found = {}
    for text in texts:
        parameter = Parameter.parse(text, options)
        if parameter.name in found:
            raise ValueError(f"{parameter.name} has two ranges; give one")
        found[parameter.name] = parameter
    return [*found.values()]

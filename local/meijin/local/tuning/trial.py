"""Trials: pairs of games between two sets of values, and what asks for them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Protocol

Values = Mapping[str, str]
"""Options as a bot is given them, by their names."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A pair of games between two sets of values."""

    number: int
    plus: Values
    minus: Values


class Trials(Protocol):
    """Trials that are to be played, several at once."""

    @property
    def numbers(self) -> range:
        """Of all of them."""

    @property
    def done(self) -> int:
        """How many have a result that counts."""

    @property
    def is_over(self) -> bool:
        """Whether each has a result."""

    @property
    def open_trials(self) -> Sequence[Trial]:
        """Those that can be played now and have no result, the first one first."""

    def note(self, number: int, result: float) -> None:
        """Take the result of a trial: points of plus less those of minus, -2 to 2.

        Raises:
            ValueError: it has one already, or can't be played yet.
        """


class Schedule:
    """Trials that are known before any is played."""

    def __init__(self, numbers: range, deal: Callable[[int], Trial], *, window: int) -> None:
        """Have trials dealt by their numbers; `window` of them are open at once."""
        self.numbers = numbers
        self.results: dict[int, float] = {}
        """By the number of the trial."""
        self._deal = deal
        self._window = window
        self._first = numbers.start

    @property
    def done(self) -> int:
        return len(self.results)

    @property
    def is_over(self) -> bool:
        return len(self.results) == len(self.numbers)

    @property
    def open_trials(self) -> list[Trial]:
        last = min(self._first + self._window, self.numbers.stop)
        return [
            self._deal(number) for number in range(self._first, last) if number not in self.results
        ]

    def note(self, number: int, result: float) -> None:
        if number in self.results or number not in self.numbers:
            raise ValueError(f"pair {number} is not open")
        self.results[number] = result
        self._first = next(each for each in count(self._first) if each not in self.results)

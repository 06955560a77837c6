"""Exponential backoff with jitter, between attempts to connect."""

from __future__ import annotations

from datetime import timedelta
from random import Random

FIRST = timedelta(seconds=0.2)
LONGEST = timedelta(seconds=5)


class Backoff:
    """Exponential backoff from `first` to `longest`, each delay cut by a random half at most.

    Without the jitter, all bots of a server that restarts would return at once.
    """

    def __init__(
        self, rng: Random, *, first: timedelta = FIRST, longest: timedelta = LONGEST
    ) -> None:
        self._rng = rng
        self._first = first
        self._longest = longest
        self._next = first

    def next(self) -> timedelta:
        """Give the delay before the next attempt."""
        delay = self._next
        self._next = min(2 * delay, self._longest)
        return delay * self._rng.uniform(0.5, 1)

    def reset(self) -> None:
        """Begin with the first delay again."""
        self._next = self._first

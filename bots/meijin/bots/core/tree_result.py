"""Limits and result of a Monte-Carlo tree search."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

Clock = Callable[[], float]
"""Seconds from any fixed point on."""


@dataclass(frozen=True, slots=True)
class TreeLimits:
    """Where a search ends, whichever comes first."""

    visits: int
    """Of the root, those of earlier moves that still count included."""
    time: timedelta | None = None

    def end(self, now: float) -> float:
        """The time at which a search that begins `now` has to end, in seconds of `Clock`."""
        return math.inf if self.time is None else now + self.time.total_seconds()


@dataclass(frozen=True, slots=True)
class TreeResult:
    """The best move, and what is expected of it."""

    cell: int
    expected_score: float
    """Of the side to move: 1 for a win, 0.5 for a draw."""
    visits: int
    """Of the root."""
    pv: tuple[int, ...]
    """The principal variation: the cells expected, beginning with `cell`."""

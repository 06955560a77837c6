"""What a tree search makes of a position."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Clock = Callable[[], float]
"""Seconds from any fixed point on."""


@dataclass(frozen=True, slots=True)
class Effort:
    """Where a search ends, whichever comes first."""

    visits: int
    """Of the root, those of earlier moves that still count included."""
    seconds: float
    """Of `Clock`."""


@dataclass(frozen=True, slots=True)
class Thought:
    """A move, and what is expected of it."""

    cell: int
    share: float
    """Of a point that the side to move expects: 1 for a win, 0.5 for a draw."""
    visits: int
    line: tuple[int, ...]
    """The cells expected, beginning with `cell`."""

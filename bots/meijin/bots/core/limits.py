"""What a search is given and what it returns; importing this needs no numba."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

MAX_DEPTH = 100
NO_LIMIT = 1 << 60

Clock = Callable[[], float]
"""Seconds from any fixed point on."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to search; each part can be left out, to see what it is good for."""

    vcf: bool = True
    """Search for VCF, wins by fours."""
    table: bool = True
    """Use a transposition table."""
    reductions: bool = True
    """Late move reductions and pruning, and internal iterative reductions."""
    futility: bool = True
    """Reverse futility pruning."""
    plain: bool = False
    """Bare alpha-beta over all candidates, as the definition has it."""
    width: int = 24
    """The most moves tried at a node."""
    noise: int = 0
    """Static evaluations are off by as much, up or down: a weaker player."""
    table_bits: int = 20
    """The table has 2 to the power of it entries, 16 bytes each."""


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """Where a search ends, whichever comes first."""

    depth: int = MAX_DEPTH
    """Plies."""
    nodes: int = NO_LIMIT
    time: timedelta | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found; the first cell of its principal variation is the move."""

    score: int
    """From the side to move, in hundredths of the logarithm of the odds; see `WIN_SCORE`."""
    depth: int
    """Plies searched in full."""
    nodes: int
    """Positions visited."""
    pv: tuple[int, ...]
    """The principal variation: the cells expected, beginning with `cell`."""
    seldepth: int = 0
    """Selective depth: the ply that the last iterations reached with all extensions."""

    @property
    def cell(self) -> int:
        return self.pv[0]


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

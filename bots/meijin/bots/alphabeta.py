"""Alpha-beta search, deepened ply by ply until the time for the move is up."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from meijin.bots.answer import Analysis, Choice
from meijin.bots.bot import Bot
from meijin.bots.budget import thinking_time
from meijin.bots.lines import Lines
from meijin.bots.position import Position
from meijin.game import FREESTYLE, STANDARD, Board, Color
from meijin.wire import Capabilities

WIDTH = 12
"""Cells tried at each node, the most promising of all."""
MAX_DEPTH = 64
WIN = 1_000_000
"""The score of a win, less a point for each ply up to it."""

_BOTH = Color.BLACK + Color.WHITE

Pv: TypeAlias = "tuple[int, Pv] | None"
"""The line expected, as a chain: its first cell, and the rest."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a search ends, whichever comes first."""

    depth: int = MAX_DEPTH
    """Plies."""
    nodes: float = math.inf
    seconds: float = math.inf


class AlphaBetaBot(Bot):
    """Looks as many plies ahead as time allows, at the most promising cells of each position."""

    name = "alphabeta"
    capabilities = Capabilities(
        rules=(FREESTYLE, STANDARD),
        min_size=3,
        max_size=22,
        min_move_time=timedelta(milliseconds=20),
        any_line=True,
    )

    def __init__(
        self,
        time_limit: timedelta | None = None,
        depth: int | None = None,
        nodes: int | None = None,
    ) -> None:
        """Set the most that one move may cost; the clock of the game limits it anyway."""
        self._time_limit = time_limit
        self._depth = depth
        self._nodes = nodes

    @property
    def configuration(self) -> Mapping[str, str]:
        """The limits that it was given."""
        limits = {"time_limit": self._time_limit, "depth": self._depth, "nodes": self._nodes}
        return {name: str(limit) for name, limit in limits.items() if limit is not None}

    def choose(self, position: Position) -> Choice:
        """Search for the time that the clock allows."""
        limits = Limits(
            depth=self._depth or MAX_DEPTH,
            nodes=self._nodes or math.inf,
            seconds=thinking_time(position, self._time_limit).total_seconds(),
        )
        return search(position.board, limits)


def search(board: Board, limits: Limits, clock: Callable[[], float] = time.monotonic) -> Choice:
    """Find the best cell for the side to move; the game must not be over."""
    return _Search(board, limits, clock).deepen()


class _OutOfLimitsError(Exception):
    """The search ends here."""


class _Search:
    def __init__(self, board: Board, limits: Limits, clock: Callable[[], float]) -> None:
        self._lines = Lines(board)
        self._side = int(board.side_to_move)
        self._start = self._lines.empty
        self._limits = limits
        self._clock = clock
        self._end = clock() + limits.seconds
        self._nodes = 0

    def deepen(self) -> Choice:
        """Search one ply deeper at a time, the best cell so far first."""
        side = self._side
        if wins := self._lines.completing(side):
            return Choice(wins[0], Analysis(score=WIN - 1, depth=1, nodes=1, pv=wins[:1]))
        cells = self._lines.completing(_BOTH - side) or self._lines.promising(WIDTH)
        choice = Choice(cells[0])
        for depth in range(1, min(self._limits.depth, self._start) + 1):
            try:
                score, pv = self._best(cells, side, depth, -WIN, WIN)
            except _OutOfLimitsError:
                break
            analysis = Analysis(score=score, depth=depth, nodes=self._nodes, pv=_unchain(pv))
            choice = Choice(analysis.pv[0], analysis)
            cells = [choice.cell, *(cell for cell in cells if cell != choice.cell)]
            if len(cells) == 1 or abs(score) >= WIN - self._start:
                break
        return choice

    def _best(
        self, cells: Sequence[int], side: int, depth: int, alpha: int, beta: int
    ) -> tuple[int, Pv]:
        """Find the best that `side` reaches over `cells`, as far as `alpha` and `beta` ask."""
        lines = self._lines
        best = -WIN
        best_pv: Pv = (cells[0], None)
        for cell in cells:
            lines.place(cell, side)
            score, pv = self._visit(_BOTH - side, depth - 1, -beta, -max(alpha, best))
            lines.remove(cell, side)
            if -score > best:
                best, best_pv = -score, (cell, pv)
                if best >= beta:
                    break
        return best, best_pv

    def _visit(self, side: int, depth: int, alpha: int, beta: int) -> tuple[int, Pv]:
        """Score the position for `side`, which is to move.

        A side that can win does; one that must stop a win does just that, at any depth.
        """
        self._check_limits()
        lines = self._lines
        if wins := lines.completing(side):
            return WIN - (self._start - lines.empty) - 1, (wins[0], None)
        if not lines.empty:
            return 0, None
        cells = lines.completing(_BOTH - side)
        if not cells:
            if depth <= 0:
                return lines.balance if side == Color.BLACK else -lines.balance, None
            cells = lines.promising(WIDTH)
        return self._best(cells, side, depth, alpha, beta)

    def _check_limits(self) -> None:
        self._nodes += 1
        if self._nodes > self._limits.nodes or self._clock() >= self._end:
            raise _OutOfLimitsError


def _unchain(pv: Pv) -> list[int]:
    cells = []
    while pv:
        cell, pv = pv
        cells.append(cell)
    return cells

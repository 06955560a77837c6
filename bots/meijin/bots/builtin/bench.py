"""Bench: the reference search, by which machines are compared."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from meijin.game import GOMOKU
from meijin.game.openings.balanced import openings_for

POSITIONS = 10
"""The first of the balanced openings on 15x15."""
DEPTH = 8
"""Plies: a round of the positions takes some tenths of a second."""
TABLE_BITS = 16


@dataclass(frozen=True, slots=True)
class BenchResult:
    """What was measured."""

    rounds: int
    """How often all positions were searched."""
    nodes_per_round: int
    """The same on every machine and in every round, for one release of the search."""
    seconds: float
    """Of the thread's processor time."""

    @property
    def nodes_per_second(self) -> int:
        return max(round(self.rounds * self.nodes_per_round / self.seconds), 1)


def run_bench(duration: timedelta, clock: Callable[[], float] = time.thread_time) -> BenchResult:
    """Search the positions again and again in one thread, until the time is over.

    Every position is searched to the same depth by an engine with an empty table, so that each
    round visits the same nodes. A round that has begun is ended. Processor time counts, for what
    else the machine does is no part of its speed.
    """
    from meijin.bots.core.engine import Engine  # noqa: PLC0415 - needs numba
    from meijin.bots.core.limits import Options, SearchLimits  # noqa: PLC0415 - needs numba

    options, limits = Options(table_bits=TABLE_BITS), SearchLimits(depth=DEPTH)
    openings = openings_for(GOMOKU)[:POSITIONS]
    Engine(GOMOKU, options).warm_up()
    rounds = nodes = 0
    begin = now = clock()
    while not rounds or now - begin < duration.total_seconds():
        engines = [Engine(GOMOKU, options) for _ in openings]
        nodes = sum(
            engine.search(moves, limits).nodes
            for engine, moves in zip(engines, openings, strict=True)
        )
        rounds += 1
        now = clock()
    return BenchResult(rounds, nodes, max(now - begin, 1e-9))

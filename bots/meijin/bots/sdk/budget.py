"""Time management: how much of its time a bot spends on one move."""

from __future__ import annotations

from datetime import timedelta

from meijin.bots.sdk.position import Position

RESERVE = timedelta(milliseconds=100)
"""Kept back for the way to the server and for the last step of a search."""
RESERVED_SHARE = 0.2
"""The reserve where less than half a second is left."""
MOVES_TO_GO = 20
"""The clock is to last for as many more moves."""


def thinking_time(position: Position, limit: timedelta | None = None) -> timedelta:
    """Time for one move: most of a cap per move, or a share of the clock with the increment.

    It is never more than `limit`, and always leaves a reserve of what may be spent.
    """
    left = position.time_left
    time = left - min(RESERVE, left * RESERVED_SHARE)
    control = position.time_control
    if control.initial is not None:
        time = min(time, position.clock_left / MOVES_TO_GO + control.increment * 0.8)
    return time if limit is None else min(time, limit)

"""The time that an engine is told of: the clock of its turn, less what is kept back."""

from __future__ import annotations

from datetime import timedelta

from meijin.bots.bridge.dialogue import EngineTime
from meijin.bots.sdk.position import Position

MARGIN = timedelta(milliseconds=100)
"""Kept back for the way to the server and for an engine that looks at its clock now and then."""
MARGIN_SHARE = 0.2
"""Kept back at most, of what a move may take."""
TURN_SHARE = 6
"""Where the clock is all that limits a move, the engine is told of a share of it and of the
increment: an engine that spends all it is told still has time for its other moves."""
LEAST_MS = 5
"""Engines take 0 for a command to answer at once, or for no limit at all."""
_STEP_MS = 10
"""Limits are told in such steps, so that one that stays the same need not be told again."""
_MILLISECOND = timedelta(milliseconds=1)


def engine_time(
    position: Position, margin: timedelta = MARGIN, overrun: timedelta = timedelta(0)
) -> EngineTime:
    """What to tell of the clock; `overrun` is what the engine lately took beyond what it was told.

    The margin is never more than a share of the move's time, and no more than half of it is kept
    back for the overrun and for what the road cost at the last move beyond the margin.
    """
    control = position.time_control
    available = position.move_ms
    if control.initial is not None:
        share = position.clock_ms // TURN_SHARE + control.increment // _MILLISECOND
        available = min(available, share)
    kept = min(margin // _MILLISECOND, int(available * MARGIN_SHARE))
    late_ms = overrun // _MILLISECOND + max(position.lost_us // 1000 - kept, 0)
    kept += min(late_ms, available // 2)
    turn_ms = max(LEAST_MS, _stepped(available - kept))
    if control.initial is None:
        return EngineTime(turn_ms, 0, None)
    match_ms = max(LEAST_MS, control.initial // _MILLISECOND - kept)
    return EngineTime(turn_ms, match_ms, max(LEAST_MS, position.clock_ms - kept))


def _stepped(milliseconds: int) -> int:
    return milliseconds // _STEP_MS * _STEP_MS if milliseconds >= 10 * _STEP_MS else milliseconds


class Overrun:
    """What an engine takes beyond the time it is told: the worst of late, forgotten slowly."""

    FORGETTING = 0.9

    def __init__(self) -> None:
        self.time = timedelta(0)

    def add(self, told: timedelta, taken: timedelta) -> None:
        """Count a move."""
        self.time = max(taken - told, self.time * self.FORGETTING)

"""Allowances: the most that lag, a margin and absences may take off a side's time in one game.

Lag and absence are partly what a bot says of itself: a late pong, an understated time, a closed
stream. So each is bounded by the time control, and nobody gains more by them than is allowed.
"""

from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import TypeAlias

from meijin.game.arbiter.moment import NS_PER_SECOND, nanoseconds
from meijin.game.clock import TimeControl

LAG_SHARE = 4
"""Lag takes off at most one in this many parts of a time control, beside the two below."""

LAG_FLOOR_NS = NS_PER_SECOND // 2
"""Allowed in any game: single answers take 0.1 s and more where the processors are busy."""

LAG_FLOOR_PER_MOVE_NS = NS_PER_SECOND // 50
"""Allowed for any move: the way from one process to another where the processors are busy."""

LEAST_LAG_PER_MOVE_NS = NS_PER_SECOND // 4
LAG_PER_MOVE_NS = NS_PER_SECOND // 2
"""The most that lag takes off one move's time, by the time control between the two."""

LAG_PER_GAME_NS = 30 * NS_PER_SECOND
"""The most that lag takes off in one game, under any time control."""

MARGINS_PER_GAME = 10
"""All that is forgiven in one game, in whole margins: moves that are always late are no accident."""

ABSENCE_SHARE = 10
"""Leaving on its own turn is free for one in this many parts of a time control."""

ABSENCE_FLOOR_NS = 3 * NS_PER_SECOND
"""Free where the clock has as much at its start: a cut connection is back within a second or two."""

RECONNECTION_NS = NS_PER_SECOND // 2
"""Free in any game: a client waits for up to 0.2 s before it connects, which takes four round trips
of 75 ms."""

TYPICAL_MOVES = 40
"""What a time control is worth in all is told by a game of this many moves a side."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one side may be credited in one game, in nanoseconds: integers, as in the arbiter."""

    lag_per_move_ns: int
    """The most for one move."""
    lag_at_start_ns: int
    """For all moves together, as the game begins."""
    lag_gain_ns: int
    """What each of the side's own moves adds to that."""
    margin_ns: int
    """How far one move may overstep what the clock has."""
    margins_ns: int
    """How far all moves may together."""
    absence_ns: int
    """How long it may be away on its own turn before its clock runs."""
    grace_ns: int
    """How long it may be away altogether."""


@lru_cache(maxsize=256)
def allowance_of(control: TimeControl, *, grace_ns: int, margin_ns: int) -> Allowance:
    """The allowances under a time control.

    Lag: a quarter of the initial time and of each increment, or of each move's limit where there
    is no clock, with 0.5 s a game and 20 ms a move on top, so that the fastest games are not
    decided by how busy a machine is. A bot that holds its pongs back at 0.2 s a move thus gains
    70 ms a move and half a second once.

    Absence: a tenth of the time control and at least 3 s, within the grace. Of those 3 s only what
    the clock has at its start, or a move has at most, if that is less: who leaves a clock of half a
    second to think has its time twice and not seven times. Half a second, which it takes to connect
    again, is free under any time control.
    """
    per_move, initial = _ns(control.per_move), _ns(control.initial)
    gain = _ns(control.increment) if control.initial is not None else per_move
    once = min(filter(None, (initial, per_move)))
    absence_ns = (initial + gain * TYPICAL_MOVES) // ABSENCE_SHARE
    absence_floor_ns = max(min(ABSENCE_FLOOR_NS, once), RECONNECTION_NS)
    return Allowance(
        lag_per_move_ns=max(LEAST_LAG_PER_MOVE_NS, min(once // LAG_SHARE, LAG_PER_MOVE_NS)),
        lag_at_start_ns=initial // LAG_SHARE + LAG_FLOOR_NS,
        lag_gain_ns=gain // LAG_SHARE + LAG_FLOOR_PER_MOVE_NS,
        margin_ns=margin_ns,
        margins_ns=margin_ns * MARGINS_PER_GAME,
        absence_ns=min(max(absence_ns, absence_floor_ns), grace_ns),
        grace_ns=grace_ns,
    )


def _ns(duration: timedelta | None) -> int:
    return 0 if duration is None else nanoseconds(duration)


Charge: TypeAlias = tuple[int, int, int]
"""Nanoseconds that an answer took, was credited for lag, and was charged.

A plain tuple: one is made for every move, and a named one takes 0.2 microseconds more.
"""


@dataclass(slots=True)
class Credits:
    """What one side has been charged last in one game, and credited so far, in nanoseconds."""

    charge: Charge | None = None
    """Of its last answer, once it has given one."""

    lag_ns: int = 0
    """Taken off for the network's lag."""
    margin_ns: int = 0
    """By how much its moves overstepped its clock and were taken all the same."""
    absence_ns: int = 0
    """How long it was away on its own turn while its clock stood."""

"""A turn, as the server tells of it: plain tuples, since there is one for every move."""

from __future__ import annotations

from typing import NamedTuple

from meijin.game import Task
from meijin.v1 import play_service_pb2


class Charge(NamedTuple):
    """What the bot's last answer in a game was charged, in microseconds."""

    raw_us: int
    """From the server's sending of the turn to its reading of the answer."""
    lag_us: int
    """Of that, what was taken off for the way there and back."""
    charged_us: int
    """What the clock was charged."""


class Turn(NamedTuple):
    """It is the bot's turn."""

    ply: int
    """The stones on the board; the answer repeats it."""
    moves: bytes
    """All moves so far, as `decode_moves` reads them."""
    own_ms: int
    """Left on the bot's clock, in milliseconds."""
    opponent_ms: int
    """Left on the opponent's clock, in milliseconds."""
    read_at: float
    """When it was read off the stream: seconds of a monotonic clock."""
    task: Task | None = None
    """What the opening asks for; ``None`` for a usual move."""
    charge: Charge | None = None
    """Of the bot's last answer in the game; ``None`` before the first, or if it isn't told."""


def turn_from_proto(turn: play_service_pb2.TurnRequested, *, read_at: float) -> Turn:
    """Read a turn that came off the stream at a second of a monotonic clock."""
    task, charge = turn.task, turn.charge
    return Turn(
        turn.ply,
        turn.moves,
        turn.own_clock_ms,
        turn.opponent_clock_ms,
        read_at,
        _task(task) if turn.HasField("task") else None,
        Charge(charge.raw_us, charge.lag_us, charge.charged_us)
        if turn.HasField("charge")
        else None,
    )


def _task(task: play_service_pb2.OpeningTask) -> Task:
    return Task(
        task.stones,
        task.may_choose,
        tuple(task.squares),
        task.offers,
        task.most_offers,
        tuple(task.among),
        task.declared,
    )

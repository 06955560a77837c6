"""No clock is charged for an outage, for lag or for a standstill of the server."""

from __future__ import annotations

from datetime import timedelta

from tests.simulation.oracle.books import MS, GameRecord
from tests.simulation.oracle.violation import require

from meijin.game import Seat, TimeControl
from meijin.v1 import play_service_pb2 as pb

UNCREDITED_NS = 160 * MS
"""Of a standstill or of jitter the product may charge so much to a move: it probes its threads every
120 ms, takes no notice of what is late by 20, and knows lag by its least."""

RECONNECTION_NS = 500 * MS
"""Of an absence, free on the own turn under any time control."""


def check_charge(game: GameRecord, raw_ns: int, charged_ns: int, *, now_ns: int) -> None:
    """What a move is charged was its bot's own time, and was left on its clock."""
    where = f"game {game.id} ply {game.ply}"
    asks = game.valid_asks
    require(bool(asks), f"{where} was never asked for")
    most_ns = sum(ask.most_ns(now_ns) for ask in asks) + UNCREDITED_NS
    most_ns += _charged_absence_ns(game, game.seat_to_act)
    require(
        0 <= charged_ns <= most_ns,
        f"{where} was charged {charged_ns / MS} ms, at most {most_ns / MS} were its bot's",
    )
    require(charged_ns <= raw_ns, f"{where} was charged {charged_ns} of {raw_ns} ns")
    left_ns = game.left_ns(game.seat_to_act)
    require(charged_ns <= left_ns, f"{where}: the clock is below zero")


def check_record(game: GameRecord, charged_ns: memoryview) -> None:
    """The record of a game that has ended holds the times that were committed."""
    require(list(charged_ns) == game.stone_ns, f"game {game.id}: other times than committed")


def check_told(
    game: GameRecord,
    seat: Seat,
    turn: pb.TurnRequested,
    where: str,
    *,
    now_ns: int,
    is_hostile: bool,
) -> None:
    """A turn tells both clocks as they are, less what its bot has used of the turn before.

    A flood is read slowly, and so is the end of a stream behind it: until then a hostile bot thinks.
    """
    own_ms, other_ms = game.left_ns(seat) // MS, game.left_ns(seat.other) // MS
    told = f"{where}: told {turn.own_clock_ms} and {turn.opponent_clock_ms} ms"
    require(turn.opponent_clock_ms == other_ms, f"{told}, the other has {other_ms}")
    before = game.valid_asks
    used_ns = sum(ask.most_ns(now_ns) for ask in before)
    used_ns += _charged_absence_ns(game, seat)
    least_ms = own_ms - used_ns // MS - (UNCREDITED_NS // MS if before else 0)
    is_enough = is_hostile or least_ms <= turn.own_clock_ms
    require(is_enough and turn.own_clock_ms <= own_ms, f"{told}, it has {own_ms}")


def _charged_absence_ns(game: GameRecord, seat: Seat) -> int:
    return max(game.away_ns[seat] - free_absence_ns(game.control), 0)


def free_absence_ns(control: TimeControl) -> int:
    """What is free of an absence on the own turn, where the clock is one of seconds.

    A tenth of the time of forty moves, or what the clock has for the first.
    """
    limits = [time for time in (control.initial, control.per_move) if time is not None]
    gain = control.increment if control.initial is not None else limits[0]
    in_all = (control.initial or timedelta()) + gain * 40
    free = max(in_all / 10, min(limits))
    return max(round(free.total_seconds() * 1e9), RECONNECTION_NS)

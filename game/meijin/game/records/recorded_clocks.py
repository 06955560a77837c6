"""The clocks of a recorded game: what each side had left at every ply."""

from collections.abc import Iterator
from datetime import timedelta
from typing import NamedTuple

from meijin.game.board.board import Board
from meijin.game.clock import Clock
from meijin.game.color import Color
from meijin.game.position import GamePosition
from meijin.game.records.record import GameRecord
from meijin.game.seat import Seat
from meijin.game.seconds import MICROSECOND


class ClockReading(NamedTuple):
    """What both clocks show."""

    black_ns: int
    """Of who has black in the end."""
    white_ns: int


def recorded_clocks(
    record: GameRecord, choice_time: timedelta = timedelta(0)
) -> Iterator[ClockReading]:
    """Both clocks before every move and after the last one; moves without times took none.

    Args:
        record: With a time control that has an initial time.
        choice_time: What the choice of a side was charged, which a record does not hold.

    Raises:
        ValueError: it has no such time control, or its moves are no game.
    """
    if record.time_control is None or record.time_control.initial is None:
        raise ValueError("the record has no clocks")
    clock = record.clock()
    final = GamePosition(record.board(), record.choice)
    black, white = (final.seat_of(color) for color in Color)
    position = GamePosition(Board(record.variant))
    for ply, cell in enumerate(record.moves):
        _choose(position, record, clock, choice_time)
        yield ClockReading(clock.left_ns(black), clock.left_ns(white))
        if _begins_turn(position, record, ply):
            _charge(clock, position.seat_to_act, record.times[ply] if record.times else None)
        position.board.play(cell)
        position.look()
    _choose(position, record, clock, choice_time)
    yield ClockReading(clock.left_ns(black), clock.left_ns(white))


def _choose(
    position: GamePosition, record: GameRecord, clock: Clock, choice_time: timedelta
) -> None:
    """Make the choice of a side that was made now, if it was."""
    task, choice = position.task, record.choice
    if choice is None or task is None or choice.ply != position.board.ply:
        return
    _charge(clock, task.seat, choice_time)
    position.choose(choice.color)


def _begins_turn(position: GamePosition, record: GameRecord, ply: int) -> bool:
    """Whether a stone is the first of its turn: it has the time of all that are placed in one."""
    if ply < record.opening_plies:
        return False
    starts = (record.opening_plies, 0, record.variant.opening_rule.stones)
    return position.task is None or ply in starts


def _charge(clock: Clock, seat: Seat, time: timedelta | None) -> None:
    if not clock.charge(seat, (time or timedelta(0)) // MICROSECOND * 1000):
        clock.drop_flag(seat)

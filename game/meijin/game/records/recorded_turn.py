"""The turns and the clocks of a recorded game: who was asked for what, and what both had left."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from meijin.game.board.board import Board
from meijin.game.clock import MICROSECOND
from meijin.game.color import Color, Seat
from meijin.game.position import Action, GamePosition, OpeningAction, Placement, asks_for
from meijin.game.records.record import GameRecord
from meijin.game.rules.opening_rule import Task


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """One turn as it was asked for."""

    ply: int
    """How many stones lay on the board."""
    seat: Seat
    color: Color
    """The side of who was asked, as far as it was settled."""
    task: Task | None
    """What the opening asked for; ``None`` for a usual move."""
    own_ns: int
    """On the clock of who was asked; with only a cap per move, the cap."""
    opponent_ns: int
    answer: Action | None
    """What was answered; ``None`` where the game ended instead, or goes on."""
    last_charge_ns: tuple[int, int] | None
    """Raw and charged time of the same player's answer before; ``None`` at its first turn."""


def recorded_turns(
    record: GameRecord, decision_times: Sequence[timedelta] = ()
) -> Iterator[RecordedTurn]:
    """All turns after the opening that was given, in their order.

    Args:
        record: With a time control; moves without times took none.
        decision_times: What each decision was charged, which a record does not hold.

    Raises:
        ValueError: it has no time control, its moves are no game, or one of them takes more
            than its player has left.
    """
    clock = record.clock()
    position = GamePosition(Board.from_moves(record.moves[: record.opening_plies], record.variant))
    charges: dict[Seat, tuple[int, int]] = {}
    while not position.board.is_over:
        ply, seat, answer = position.board.ply, position.seat_to_act, _answer(record, position)
        yield RecordedTurn(
            ply=ply,
            seat=seat,
            color=position.color_of(seat),
            task=position.task,
            own_ns=clock.left_ns(seat),
            opponent_ns=clock.left_ns(seat.other),
            answer=answer,
            last_charge_ns=charges.get(seat),
        )
        if answer is None:
            return
        charges[seat] = _times(record, position, answer, decision_times)
        if not clock.charge(seat, charges[seat][1]):
            raise ValueError(f"ply {ply}: the move took more than its player had left")
        position.act(answer)


def player_of(record: GameRecord, seat: Seat) -> str:
    """The name of the player that had a seat, whatever its colour was in the end."""
    color = record.opening_position().color_of(seat)
    return record.black if color is Color.BLACK else record.white


def _answer(record: GameRecord, position: GamePosition) -> Action | None:
    task, ply = position.task, position.board.ply
    later = record.decisions[len(position.decisions) :]
    if task is not None and later and later[0].ply == ply and asks_for(task, later[0].action):
        return later[0].action
    stones = 1 if task is None else task.stones
    cells = record.moves[ply : ply + stones]
    if not stones or len(cells) < stones:
        return None
    return cells[0] if task is None else Placement(cells)


def opening_actions(record: GameRecord) -> Iterator[tuple[GamePosition, OpeningAction]]:
    """What the opening rule had the players do, each with the position before it.

    Raises:
        ValueError: it is none by its rule.
    """
    position = GamePosition(Board(record.variant))
    while position.task is not None and (answer := _answer(record, position)) is not None:
        assert not isinstance(answer, int)
        yield position, answer
        position.act(answer)


def _times(
    record: GameRecord, position: GamePosition, answer: Action, decision_times: Sequence[timedelta]
) -> tuple[int, int]:
    """Raw and charged nanoseconds; the first stone of a placement has the time of them all."""
    ply = position.board.ply
    if not isinstance(answer, int | Placement):
        made = len(position.decisions)
        raw = charged = decision_times[made] if made < len(decision_times) else timedelta(0)
    else:
        charged = record.times[ply] if record.times else timedelta(0)
        raw = record.raw_times[ply] if record.raw_times else charged
    return raw // MICROSECOND * 1000, charged // MICROSECOND * 1000


class ClockReading(NamedTuple):
    """What both clocks show."""

    black_ns: int
    """Of who has black in the end."""
    white_ns: int


def recorded_clocks(
    record: GameRecord, decision_times: Sequence[timedelta] = ()
) -> Iterator[ClockReading]:
    """Both clocks before every move and after the last one; moves without times took none.

    Args:
        record: With a time control that has an initial time.
        decision_times: What each decision was charged, which a record does not hold.

    Raises:
        ValueError: it has no such time control, or its moves are no game.
    """
    if record.time_control is None or record.time_control.initial is None:
        raise ValueError("the record has no clocks")
    clock = record.clock()
    final = record.opening_position()
    black, white = (final.seat_of(color) for color in Color)

    def read() -> ClockReading:
        return ClockReading(clock.left_ns(black), clock.left_ns(white))

    plies = record.opening_plies
    position = GamePosition(Board.from_moves(record.moves[:plies], record.variant))
    yield from [read()] * plies
    while not position.board.is_over and (answer := _answer(record, position)) is not None:
        # The first stone of a placement has the time of them all.
        ply, seat = position.board.ply, position.seat_to_act
        if isinstance(answer, int | Placement):
            yield read()
        if not clock.charge(seat, _times(record, position, answer, decision_times)[1]):
            clock.drop_flag(seat)
        position.act(answer)
        later = max(position.board.ply - ply - 1, 0)
        yield from [read()] * later
    left = len(record.moves) - position.board.ply + 1
    yield from [read()] * left

"""The bot's seat at one running game."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest

from meijin.bots import RESIGN, Analysis, Choice
from meijin.bots.sdk.answer import Failure
from meijin.bots.sdk.events import Started, Turn
from meijin.bots.sdk.outbox import Outbox
from meijin.bots.sdk.seat import Seat
from meijin.game import GOMOKU, Board, Color, TimeControl, encode_moves


class Clock:
    """Seconds that pass when the test says so."""

    now = 100.0

    def __call__(self) -> float:
        """Read it."""
        return self.now


class Index:
    """Like an integer of numpy."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


def seat_after(
    cells: Sequence[int], control: str = "60,5/move", clock: Clock | None = None
) -> Seat:
    """A seat of black at a game with `cells`."""
    started = Started(
        number=3,
        game_id="g",
        variant=GOMOKU,
        time_control=TimeControl.parse(control),
        color=Color.BLACK,
        opponent="rival",
        moves=encode_moves(cells),
    )
    return Seat(started, Outbox(), clock or Clock())


def turn(cells: Sequence[int]) -> Turn:
    """A turn after `cells`, with half a minute left."""
    return Turn(3, len(cells), encode_moves(cells), 30_000, 20_000)


def sent(seat: Seat) -> list[tuple[int, int, int]]:
    """The moves in the outbox of a seat: game, ply and cell."""

    async def take() -> list[tuple[int, int, int]]:
        requests = await asyncio.wait_for(seat._outbox.take(), 20)
        return [
            (play.game, play.ply, play.cell)
            for request in requests
            for play in request.actions.plays
        ]

    return asyncio.run(take())


def test_board_follows_the_moves() -> None:
    """The same board goes on from turn to turn."""
    seat = seat_after([112])
    seat.ask(turn([112, 113]))
    board = seat.face().board
    assert list(board.moves) == [112, 113]
    seat.send(seat.settle(100))
    seat.ask(turn([112, 113, 100, 101]))
    assert seat.face().board is board
    assert list(board.moves) == [112, 113, 100, 101]


def test_waiting_is_taken_off_the_clocks() -> None:
    """A turn that waited for a thread has less time left, in whole milliseconds."""
    clock = Clock()
    seat = seat_after([], clock=clock)
    seat.ask(turn([]))
    clock.now += 1.0005
    position = seat.face()
    assert position.time_left == timedelta(milliseconds=4_000)
    assert position.clock_left == timedelta(milliseconds=29_000)
    assert position.opponent_time_left == timedelta(milliseconds=20_000)


def test_repeated_turn() -> None:
    """A turn that is asked for twice is searched once, and answered once."""
    seat = seat_after([])
    assert seat.ask(turn([]))
    assert not seat.ask(turn([]))
    seat.face()
    action = seat.settle(7)
    seat.send(action)
    seat.send(action)
    assert sent(seat) == [(3, 0, 7)]
    assert seat.ask(turn([]))


def test_answer_after_the_end() -> None:
    """A game that has ended is sent nothing."""
    seat = seat_after([])
    seat.ask(turn([]))
    seat.face()
    seat.running = False
    seat.send(seat.settle(7))
    assert not seat._outbox._filled.is_set()


@pytest.mark.parametrize("mess", ["played", "undone", "other", "won"])
def test_board_left_changed(mess: str) -> None:
    """Whatever a bot leaves on the board, its answer is checked on the right one."""
    cells = [0, 100, 1, 101]
    seat = seat_after([])
    seat.ask(turn(cells))
    board = seat.face().board
    if mess == "played":
        board.play(7)
    else:
        board.undo()
    if mess == "other":
        board.play(7)
    if mess == "won":
        for cell in (110, 2, 120, 3, 130, 4):
            board.play(cell)
    assert seat.settle(7).answer == 7
    assert seat.position.board == Board.from_moves(cells)


@pytest.mark.parametrize(
    ("answer", "settled"),
    [
        (7, 7),
        (Index(7), 7),
        (Choice(7, Analysis(score=1)), Choice(7, Analysis(score=1))),
        (RESIGN, RESIGN),
        (None, Failure("choose returned None; return a cell, a Choice or RESIGN")),
        (True, Failure("choose returned True; return a cell, a Choice or RESIGN")),
        ("h8", Failure("choose returned 'h8'; return a cell, a Choice or RESIGN")),
        (7.0, Failure("choose returned 7.0; return a cell, a Choice or RESIGN")),
        (112, Failure("choose returned 112: h8 is occupied")),
        (-1, Failure("choose returned -1: cell -1 is off the 15x15 board")),
        (Index(225), None),
    ],
)
def test_settle(answer: object, settled: object) -> None:
    """A legal cell passes; anything else is a failure that names it, before it is sent."""
    seat = seat_after([112])
    seat.ask(turn([112, 113]))
    seat.face()
    result = seat.settle(answer)
    assert (result.number, result.ply) == (3, 2)
    if settled is None:
        assert isinstance(result.answer, Failure)
    else:
        assert result.answer == settled
        assert type(result.answer) is type(settled)


def test_fail() -> None:
    """An exception becomes a failure that names it."""
    seat = seat_after([])
    seat.ask(turn([]))
    seat.face()
    assert seat.fail(ZeroDivisionError("by zero")).answer == Failure("ZeroDivisionError: by zero")


def test_impossible_moves() -> None:
    """The server's moves are checked like anybody's."""
    seat = seat_after([])
    seat.ask(turn([5, 5]))
    with pytest.raises(ValueError, match="occupied"):
        seat.face()

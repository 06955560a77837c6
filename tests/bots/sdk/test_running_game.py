"""A running game of a bot."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest

from meijin.bots import RESIGN, Analysis, Choice
from meijin.bots.sdk.answer import Failure, Unchecked
from meijin.bots.sdk.errors import SupplierError
from meijin.bots.sdk.events import GameStarted, Turn
from meijin.bots.sdk.outbox import Outbox
from meijin.bots.sdk.running_game import RunningGame
from meijin.bots.sdk.wire import Action
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


def game_after(
    cells: Sequence[int], control: str = "60,5/move", clock: Clock | None = None
) -> RunningGame:
    """A game that black plays, after `cells`."""
    started = GameStarted(
        number=3,
        game_id="g",
        variant=GOMOKU,
        time_control=TimeControl.parse(control),
        color=Color.BLACK,
        opponent="rival",
        moves=encode_moves(cells),
    )
    return RunningGame(started, Outbox(), clock or Clock())


def turn(cells: Sequence[int]) -> Turn:
    """A turn after `cells`, with half a minute left."""
    return Turn(3, len(cells), encode_moves(cells), 30_000, 20_000, Clock.now)


async def sent(game: RunningGame) -> list[tuple[int, int, int]]:
    """The moves in the outbox of a game: its number, ply and cell."""
    requests = await asyncio.wait_for(game._outbox.take(), 20)
    return [
        (play.game, play.ply, play.cell) for request in requests for play in request.actions.plays
    ]


def test_board_follows_the_moves() -> None:
    """The same board goes on from turn to turn."""
    game = game_after([112])
    game.begin_turn(turn([112, 113]))
    board = game.turn_position().board
    assert list(board.moves) == [112, 113]
    game.send(game.action_for(100))
    game.begin_turn(turn([112, 113, 100, 101]))
    assert game.turn_position().board is board
    assert list(board.moves) == [112, 113, 100, 101]


def test_waiting_is_taken_off_the_clocks() -> None:
    """A turn that waited for a thread has less time left, in whole milliseconds."""
    clock = Clock()
    game = game_after([], clock=clock)
    game.begin_turn(turn([]))
    clock.now += 1.0005
    position = game.turn_position()
    assert game.action_for(7) == Action(3, 0, 7, read_at=Clock.now)
    assert position.time_left == timedelta(milliseconds=4_000)
    assert position.clock_left == timedelta(milliseconds=29_000)
    assert position.opponent_time_left == timedelta(milliseconds=20_000)


async def test_repeated_turn() -> None:
    """A turn that is asked for twice is searched once, and answered once."""
    game = game_after([])
    assert game.begin_turn(turn([]))
    assert not game.begin_turn(turn([]))
    game.turn_position()
    action = game.action_for(7)
    game.send(action)
    game.send(action)
    assert await sent(game) == [(3, 0, 7)]
    assert game.begin_turn(turn([]))


def test_answer_after_the_end() -> None:
    """A game that has ended is sent nothing."""
    game = game_after([])
    game.begin_turn(turn([]))
    game.turn_position()
    game.running = False
    game.send(game.action_for(7))
    assert not game._outbox._filled.is_set()


@pytest.mark.parametrize("mess", ["played", "undone", "other", "won"])
def test_board_left_changed(mess: str) -> None:
    """Whatever a bot leaves on the board, its answer is checked on the right one."""
    cells = [0, 100, 1, 101]
    game = game_after([])
    game.begin_turn(turn(cells))
    board = game.turn_position().board
    if mess == "played":
        board.play(7)
    else:
        board.undo()
    if mess == "other":
        board.play(7)
    if mess == "won":
        for cell in (110, 2, 120, 3, 130, 4):
            board.play(cell)
    assert game.action_for(7).answer == 7
    assert game.position.board == Board.from_moves(cells)


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
    game = game_after([112])
    game.begin_turn(turn([112, 113]))
    game.turn_position()
    result = game.action_for(answer)
    assert (result.number, result.ply) == (3, 2)
    if settled is None:
        assert isinstance(result.answer, Failure)
    else:
        assert result.answer == settled
        assert type(result.answer) is type(settled)


@pytest.mark.parametrize("cell", [0, 7, 225])
def test_move_that_the_server_judges(cell: int) -> None:
    """It is sent as it is, whether it is legal or not."""
    game = game_after([7])
    game.begin_turn(turn([7, 8]))
    game.turn_position()
    assert game.action_for(Unchecked(cell)).answer == cell


def test_fail() -> None:
    """An exception becomes a failure that names it."""
    game = game_after([])
    game.begin_turn(turn([]))
    game.turn_position()
    assert game.failure_action(ZeroDivisionError("by zero")).answer == Failure(
        "ZeroDivisionError: by zero"
    )


def test_a_suppliers_failure() -> None:
    """An exception that says whose failure it is, or one derived from it."""
    game = game_after([])
    game.begin_turn(turn([]))
    game.turn_position()
    action = game.failure_action(SupplierError("the model's host is away"))
    assert action.answer == Failure("SupplierError: the model's host is away", is_suppliers=True)


def test_impossible_moves() -> None:
    """The server's moves are checked like anybody's."""
    game = game_after([])
    game.begin_turn(turn([5, 5]))
    with pytest.raises(ValueError, match="occupied"):
        game.turn_position()

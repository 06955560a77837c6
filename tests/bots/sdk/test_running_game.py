"""A running game of a bot."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from meijin.bots import RESIGN, Analysis, Bot, Choice, Position
from meijin.bots.sdk.answer import Failure, Unchecked
from meijin.bots.sdk.errors import GameFailedError, SupplierError
from meijin.bots.sdk.events import Charge, GameStarted, OpeningTask, Turn
from meijin.bots.sdk.outbox import Outbox
from meijin.bots.sdk.running_game import RunningGame
from meijin.bots.sdk.wire import Action, KnownGame
from meijin.game import GOMOKU, Board, Choose, Color, Placement, TimeControl, encode_moves


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


def test_a_game_knows_what_it_was_told_and_has_answered() -> None:
    """The moves of its last turn; the answer's stones until the next one."""
    game = game_after([112])
    assert game.known == KnownGame("g", encode_moves([112]), ())
    game.begin_turn(turn([112, 113]))
    game.turn_position()
    assert game.known == KnownGame("g", encode_moves([112, 113]), ())
    game.send(game.action_for(100))
    assert game.known == KnownGame("g", encode_moves([112, 113]), (100,))
    game.begin_turn(turn([112, 113, 100, 101]))
    assert game.known == KnownGame("g", encode_moves([112, 113, 100, 101]), ())


def test_what_a_game_knows_outlives_its_stream() -> None:
    """A server that brings it back with fewer moves has told of the others all the same."""
    game = game_after([])
    game.begin_turn(turn([7, 8]))
    game.turn_position()
    game.send(game.action_for(100))
    started = GameStarted(
        number=1,
        game_id="g",
        variant=GOMOKU,
        time_control=TimeControl.parse("60"),
        color=Color.BLACK,
        opponent="rival",
        moves=b"",
    )
    back = RunningGame(started, Outbox(), earlier=game)
    assert back.known == KnownGame("g", encode_moves([7, 8]), (100,))
    back.begin_turn(turn([]))  # it goes on from there, whatever was
    assert back.known == KnownGame("g", b"", ())


@pytest.mark.parametrize(
    ("answer", "stones"),
    [
        (Choice(5), (5,)),
        (Unchecked(6), (6,)),
        (Unchecked(1 << 16), ()),
        (Unchecked(-1), ()),
        (Placement((7, 8, 9)), (7, 8, 9)),
        (Choose(Color.WHITE), ()),
        (RESIGN, ()),
        (Failure("no more"), ()),
    ],
)
def test_only_stones_are_known_of_an_answer(answer: Any, stones: tuple[int, ...]) -> None:
    """Of one that the wire can carry."""
    game = game_after([])
    game.begin_turn(turn([]))
    game.turn_position()
    game.send(Action(3, 0, answer))
    assert game.known.answer == stones


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


def test_the_road_is_what_the_bot_did_not_take() -> None:
    """What was charged for the last answer, less its time from the read to the send."""
    clock = Clock()
    game = game_after([], clock=clock)
    game.begin_turn(turn([]))
    position = game.turn_position()
    assert (position.last_charge, position.lost_us) == (None, 0)
    clock.now += 0.25
    game.send(game.action_for(7))
    charge = Charge(raw_us=900_000, lag_us=50_000, charged_us=850_000)
    game.begin_turn(turn([7, 8])._replace(charge=charge, read_at=clock.now))
    assert game.turn_position() is position
    assert (position.last_charge, position.lost_us) == (charge, 600_000)


def test_a_charge_for_an_answer_of_another_stream() -> None:
    """It is told, and nobody knows what of it was the road."""
    game = game_after([7, 8])
    game.begin_turn(turn([7, 8])._replace(charge=Charge(900_000, 0, 900_000)))
    position = game.turn_position()
    assert position.last_charge == Charge(900_000, 0, 900_000)
    assert position.lost_us == 0


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


class OpeningBot(Bot):
    """Gives fixed answers in openings."""

    def __init__(self, answer: object) -> None:
        self._answer = answer

    def place_opening(self, position: Position, stones: int) -> Any:  # noqa: ARG002 - see Bot
        """Answer."""
        position.board.play(200)  # and never undone
        return self._answer

    def choose_side(self, position: Position, stones: int) -> Any:  # noqa: ARG002 - see Bot
        """Answer."""
        return self._answer


@pytest.mark.parametrize(
    ("task", "answer", "settled"),
    [
        (OpeningTask(3, may_choose=False), [7, 8, 9], Placement((7, 8, 9))),
        (OpeningTask(3, may_choose=False), (Index(7), 8, 9), Placement((7, 8, 9))),
        (OpeningTask(0, may_choose=True), Color.WHITE, Choose(Color.WHITE)),
        (OpeningTask(2, may_choose=True), Color.BLACK, Choose(Color.BLACK)),
        (OpeningTask(2, may_choose=True), [7, 8], Placement((7, 8))),
        (
            OpeningTask(3, may_choose=False),
            [7, 8],
            Failure("place_opening returned [7, 8]: 3 stones are asked for"),
        ),
        (
            OpeningTask(2, may_choose=True),
            [7, 112],
            Failure("choose_side returned [7, 112]: h8 is occupied"),
        ),
        (
            OpeningTask(0, may_choose=True),
            [7],
            Failure("choose_side returned [7]: 0 stones are asked for"),
        ),
        (OpeningTask(2, may_choose=True), Placement((112, 900)), Placement((112, 900))),
        (OpeningTask(0, may_choose=True), None, None),
        (OpeningTask(3, may_choose=False), Color.BLACK, None),
    ],
)
def test_answers_in_openings(task: OpeningTask, answer: object, settled: object) -> None:
    """What is asked for passes; anything else is a failure that names it, before it is sent."""
    game = game_after([112])
    game.begin_turn(turn([112])._replace(task=task))
    assert game.task == task
    action = game.answer_task(OpeningBot(answer), task)
    assert (action.number, action.ply) == (3, 1)
    if settled is None:
        assert isinstance(action.answer, Failure)
    elif isinstance(settled, Failure):
        assert isinstance(action.answer, Failure)
        assert action.answer.message.startswith(f"{settled.message} (test_running_game.py, line ")
    else:
        assert action.answer == settled


def test_failure_that_tells_all() -> None:
    """The words of a bot that says why it can't go on are the cause as they are."""
    game = game_after([])
    game.begin_turn(turn([]))
    assert game.failure_action(GameFailedError("out of ideas")).answer == Failure("out of ideas")
    assert game.failure_action(ValueError("no")).answer == Failure("ValueError: no")


def test_a_chosen_side_is_shown_from_the_next_turn_on() -> None:
    """The bot's colour changes when the server says so."""
    game = game_after([])
    game.begin_turn(turn([]))
    assert game.turn_position().color is Color.BLACK
    game.color = Color.WHITE
    assert game.position.color is Color.BLACK
    assert game.turn_position().color is Color.WHITE


async def test_a_turn_at_the_same_ply_follows_a_choice() -> None:
    """Who chooses to move is asked for the move at the ply at which it chose."""
    game = game_after([])
    task = OpeningTask(0, may_choose=True)
    assert game.begin_turn(turn([112, 113, 114])._replace(task=task))
    game.send(game.answer_task(OpeningBot(Color.WHITE), task))
    assert game.begin_turn(turn([112, 113, 114]))
    assert game.task is None

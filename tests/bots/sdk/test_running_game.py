"""A running game of a bot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration
from tests.bots.conftest import Session

from meijin.bots import RESIGN, Analysis, Bot, Charge, Choice, Position, RandomBot
from meijin.bots.sdk.answer import Failure, Unchecked
from meijin.bots.sdk.running_game import QUIET_SECONDS, LatencyMonitor, RunningGame
from meijin.bots.sdk.stream import StreamOutbox
from meijin.bots.sdk.turn import Turn
from meijin.bots.sdk.wire import Action, ReturningGame
from meijin.game import (
    FREE,
    OPENING_RULES,
    Board,
    Choose,
    Color,
    Declare,
    GamePosition,
    Offer,
    OpeningRule,
    Placement,
    Task,
    TimeControl,
    Variant,
    encode_moves,
)
from meijin.v1 import game_pb2


class Clock:
    """Seconds that pass when the test says so."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


class Index:
    """Like an integer of numpy."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


STARTED = Session.started(3, game_id="g")


def turn(cells: Sequence[int], **fields: Any) -> Turn:
    """A turn after `cells`, with half a minute left."""
    return Turn(len(cells), encode_moves(cells), 30_000, 20_000, Clock.now)._replace(**fields)


def asked(cells: Sequence[int], clock: Clock | None = None, **fields: Any) -> RunningGame:
    """A game that black plays, with the position of a turn after `cells`."""
    game = RunningGame(STARTED, StreamOutbox(), clock or Clock())
    game.begin_turn(turn(cells, **fields))
    game.turn_position()
    return game


def test_a_game_knows_what_it_was_told_and_has_answered() -> None:
    """The moves of its last turn; the answer's stones until the next one, over all streams.

    A server that brings it back with fewer moves has told of the others all the same.
    """
    game = asked([112, 113])
    assert game.known == ReturningGame("g", encode_moves([112, 113]), ())
    game.send(game.action_for(100))
    assert game.known == ReturningGame("g", encode_moves([112, 113]), (100,))
    back = RunningGame(Session.started(1, game_id="g"), StreamOutbox(), earlier=game)
    assert back.known == game.known
    back.begin_turn(turn([112, 113, 100, 101]))
    assert back.known == ReturningGame("g", encode_moves([112, 113, 100, 101]), ())


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
    game = asked([])
    game.send(Action(3, 0, answer))
    assert game.known.answer == stones


def test_the_start_of_a_game_is_what_the_server_says() -> None:
    """What is played by which clock, whose stones the bot has, and against whom."""
    control = game_pb2.TimeControl(initial=Duration(seconds=60), per_move=Duration(seconds=5))
    variant = game_pb2.Variant(rule=game_pb2.RULE_STANDARD, width=9, height=7)
    told = {"color": game_pb2.COLOR_WHITE, "time_control": control, "variant": variant}
    position = RunningGame(Session.started(7, [8], **told), StreamOutbox()).position
    assert (str(position.variant), list(position.board.moves)) == ("standard 9x7", [8])
    assert (position.game_id, position.opponent) == ("game-7", "rival")
    assert position.color is Color.WHITE
    assert position.time_control == TimeControl.parse("60,5/move")


async def test_repeated_turn() -> None:
    """A turn that is asked for twice is searched once, and answered once."""
    game = RunningGame(STARTED, StreamOutbox(), Clock())
    assert game.begin_turn(turn([]))
    assert not game.begin_turn(turn([]))
    game.turn_position()
    action = game.action_for(7)
    game.send(action)
    game.send(action)
    (request,) = await game._outbox.take()
    assert [(play.game, play.ply, play.cell) for play in request.actions.plays] == [(3, 0, 7)]
    assert game.begin_turn(turn([]))


def test_answer_after_the_end() -> None:
    """A game that has ended is sent nothing."""
    game = asked([])
    game.running = False
    game.send(game.action_for(7))
    assert not game._outbox._filled.is_set()


def test_board_follows_the_moves() -> None:
    """The same board goes on from turn to turn; impossible moves are refused."""
    game = asked([112, 113])
    board = game.position.board
    game.send(game.action_for(100))
    game.begin_turn(turn([112, 113, 100, 101]))
    assert game.turn_position().board is board
    assert list(board.moves) == [112, 113, 100, 101]
    with pytest.raises(ValueError, match="occupied"):
        asked([5, 5])


def test_waiting_is_taken_off_the_clocks() -> None:
    """A turn that waited for a thread has less time left, in whole milliseconds."""
    clock = Clock()
    clock.now += 1.0005
    game = asked([], clock)
    assert game.action_for(7) == Action(3, 0, 7, read_at=Clock.now)
    position = game.position
    assert (position.move_ms, position.opponent_clock_ms) == (29_000, 20_000)


def test_the_road_is_what_the_bot_did_not_take() -> None:
    """What was charged for the last answer, less its time from the read to the send."""
    clock = Clock()
    game = asked([], clock)
    position = game.position
    assert (position.last_charge, position.lost_us) == (None, 0)
    clock.now += 0.25
    game.send(game.action_for(7))
    charge = Charge(raw_us=900_000, lag_us=50_000, charged_us=850_000)
    game.begin_turn(turn([7, 8], charge=charge, read_at=clock.now))
    assert game.turn_position() is position
    assert (position.last_charge, position.lost_us) == (charge, 600_000)


def test_a_charge_for_an_answer_of_another_stream() -> None:
    """It is told, and nobody knows what of it was latency."""
    position = asked([7, 8], charge=Charge(900_000, 0, 900_000)).position
    assert position.last_charge == Charge(900_000, 0, 900_000)
    assert position.lost_us == 0


@pytest.mark.parametrize("mess", ["played", "undone", "other", "won"])
def test_board_left_changed(mess: str) -> None:
    """Whatever a bot leaves on the board, its answer is checked on the right one."""
    cells = [0, 100, 1, 101]
    game = asked(cells)
    board = game.position.board
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


KINDS = "return a cell, a Choice or RESIGN"


@pytest.mark.parametrize(
    ("answer", "settled"),
    [
        (7, 7),
        (Index(7), 7),
        (Choice(7, Analysis(score=1)), Choice(7, Analysis(score=1))),
        (Unchecked(112), 112),
        (Unchecked(225), 225),
        (RESIGN, RESIGN),
        (None, Failure(f"choose returned None; {KINDS}")),
        (True, Failure(f"choose returned True; {KINDS}")),
        (7.0, Failure(f"choose returned 7.0; {KINDS}")),
        (112, Failure("choose returned 112: h8 is occupied")),
        (-1, Failure("choose returned -1: cell -1 is off the 15x15 board")),
    ],
)
def test_settle(answer: object, settled: object) -> None:
    """A legal cell passes, and what the server is to judge; else a failure names what it is."""
    result = asked([112, 113]).action_for(answer)
    assert (result.number, result.ply, result.answer) == (3, 2, settled)
    assert type(result.answer) is type(settled)


class OpeningBot(Bot):
    """Gives fixed answers in openings."""

    def __init__(self, answer: object) -> None:
        self._answer = answer

    def place_opening(self, position: Position, stones: int) -> Any:  # noqa: ARG002 - see Bot
        position.board.play(200)  # and never undone
        return self._answer

    async def choose_side(self, position: Position, stones: int) -> Any:  # noqa: ARG002 - see Bot
        return self._answer

    def declare_offers(self, position: Position, most: int) -> Any:  # noqa: ARG002 - see Bot
        return self._answer

    def offer_cells(self, position: Position, count: int) -> Any:  # noqa: ARG002 - see Bot
        return self._answer

    def take_offered(self, position: Position, cells: Sequence[int]) -> Any:  # noqa: ARG002 - see Bot
        return self._answer


PLACE, CHOOSE = Task(3, may_choose=False), Task(0, may_choose=True)
EITHER = Task(2, may_choose=True)
DECLARE, OFFER = Task(most_offers=8), Task(offers=2)
TAKE, SQUARE = Task(1, among=(7, 8)), Task(1, squares=(3,))


@pytest.mark.parametrize(
    ("task", "answer", "settled"),
    [
        (PLACE, (Index(7), 8, 9), Placement((7, 8, 9))),
        (CHOOSE, Color.WHITE, Choose(Color.WHITE)),
        (EITHER, Color.BLACK, Choose(Color.BLACK)),
        (EITHER, [7, 8], Placement((7, 8))),
        (EITHER, Placement((112, 900)), Placement((112, 900))),
        (PLACE, [7, 8], "place_opening returned [7, 8]: 3 stones are asked for"),
        (EITHER, [7, 112], "choose_side returned [7, 112]: h8 is occupied"),
        (CHOOSE, [7], "choose_side returned [7]: 0 stones are asked for"),
        (CHOOSE, None, "choose_side returned None: "),
        (PLACE, Color.BLACK, "place_opening returned "),
        (DECLARE, Index(3), Declare(3)),
        (OFFER, [7, Index(8)], Offer((7, 8))),
        (TAKE, 8, Placement((8,))),
        (SQUARE, [97], Placement((97,))),
        (Task(may_choose=True, offers=2), Offer((7, 8)), Offer((7, 8))),
        (Task(may_choose=True, offers=2), Color.WHITE, Choose(Color.WHITE)),
        (DECLARE, "many", "declare_offers returned 'many': "),
        (OFFER, [7], "offer_cells returned [7]: 2 empty cells are asked for"),
        (OFFER, [7, 112], "offer_cells returned [7, 112]: 2 empty cells are asked for"),
        (OFFER, [111, 113], "offer_cells returned [111, 113]: 2 empty cells are asked for, no two"),
        (OFFER, [7, 7, 8], "offer_cells returned [7, 7, 8]: 2 cells are asked for"),
        (TAKE, 9, "take_offered returned 9: cell 9 is not among the offered cells"),
        (SQUARE, [7], "place_opening returned [7]: cell 7 is not in its central square"),
    ],
)
async def test_answers_in_openings(task: Task, answer: object, settled: object) -> None:
    """What is asked for passes; anything else is a failure that names it, before it is sent."""
    game = asked([112], task=task)
    assert game.task == task
    action = await game.answer_task(OpeningBot(answer))
    assert (action.number, action.ply) == (3, 1)
    if isinstance(settled, str):
        assert isinstance(action.answer, Failure)
        assert action.answer.message.startswith(settled)
        assert "(test_running_game.py, line " in action.answer.message
    else:
        assert action.answer == settled


@pytest.mark.parametrize(
    "rule", [each for each in OPENING_RULES.values() if each != FREE], ids=lambda rule: rule.name
)
@pytest.mark.parametrize("bot", [Bot(), RandomBot(7)], ids=["plain", "random"])
async def test_any_bot_can_play_an_opening(rule: OpeningRule, bot: Bot) -> None:
    """Also by what a bot does that has no methods of its own for it."""
    opening = GamePosition(Board(Variant(opening_rule=rule)))
    while opening.task is not None:
        game = asked(list(opening.board.moves), task=opening.task)
        answer = (await game.answer_task(bot)).answer
        assert isinstance(answer, Placement | Choose | Declare | Offer)
        opening.act(answer)


async def test_a_chosen_side() -> None:
    """It is shown from the next turn on, which may be at the ply of the choice."""
    moves = [112, 113, 114]
    game = asked(moves, task=CHOOSE)
    game.send(await game.answer_task(OpeningBot(Color.WHITE)))
    game.color = Color.WHITE
    assert game.position.color is Color.BLACK
    assert game.begin_turn(turn(moves))
    assert game.task is None
    assert game.turn_position().color is Color.WHITE


def position(lost: float, control: str = "1/move", game_id: str = "7") -> Position:
    """A turn whose last answer has lost this many seconds, and took a tenth of one."""
    made = Position(Board(), TimeControl.parse(control), game_id=game_id)
    made.lost_us = round(lost * 1_000_000)
    made.last_charge = Charge(made.lost_us + 150_000, 50_000, made.lost_us + 100_000)
    return made


def test_much_lost_time_is_told_with_its_numbers(caplog: pytest.LogCaptureFixture) -> None:
    LatencyMonitor(Clock()).note(position(0.4))
    (record,) = caplog.records
    assert record.getMessage().startswith(
        "game 7: 0.400 s of the 0.500 s charged for the last move were lost between the server and the bot, "
        "where a move has 1.000 s (0.050 s more were credited as lag); run the bot nearer"
    )


@pytest.mark.parametrize(
    ("lost", "control"), [(0.09, "1/move"), (0.4, "60+5"), (0.019, "0.1/move"), (0.0, "1/move")]
)
def test_little_is_not_told(lost: float, control: str, caplog: pytest.LogCaptureFixture) -> None:
    """Little of what a move has, or little by any measure."""
    LatencyMonitor(Clock()).note(position(lost, control))
    assert not caplog.records


def test_lost_time_is_told_now_and_then(caplog: pytest.LogCaptureFixture) -> None:
    """Of one game a minute, and of each once, however long it goes on."""
    clock = Clock()
    latency = LatencyMonitor(clock)
    for number in range(100):
        latency.note(position(0.4, game_id=str(number)))
    assert len(caplog.records) == 1
    clock.now += QUIET_SECONDS
    latency.note(position(0.4, game_id="0"))
    assert len(caplog.records) == 1
    latency.note(position(0.4, game_id="5"))
    assert len(caplog.records) == 2

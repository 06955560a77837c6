"""Between the messages of `Play` and the words of this package."""

from __future__ import annotations

import logging
import math
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from meijin.bots import RESIGN, Analysis, Choice, RandomBot
from meijin.bots.sdk.answer import Failure
from meijin.bots.sdk.events import (
    Charge,
    Draining,
    Events,
    GameEnded,
    GameStarted,
    Notice,
    OpeningTask,
    Ping,
    SideChosen,
    Turn,
    Welcome,
)
from meijin.bots.sdk.wire import (
    MAX_BATCH_BYTES,
    MAX_FAILURE_BYTES,
    MAX_KNOWN_GAMES,
    Action,
    KnownGame,
    actions_to_proto,
    analysis_to_proto,
    hello_to_proto,
    message_from_proto,
)
from meijin.game import GOMOKU, Choose, Color, Ending, Outcome, Placement, TimeControl, encode_moves
from meijin.v1 import game_pb2, play_service_pb2
from meijin.wire.contract import MAX_PV


@pytest.mark.parametrize(
    ("is_suppliers", "cause"),
    [(False, play_service_pb2.FAILURE_CAUSE_BOT), (True, play_service_pb2.FAILURE_CAUSE_SUPPLIER)],
)
def test_a_failure_says_whose_it_is(
    cause: play_service_pb2.FailureCause.ValueType, *, is_suppliers: bool
) -> None:
    """The bot's own, or that of what it depends on."""
    (request,) = actions_to_proto([Action(1, 0, Failure("no licence", is_suppliers))], now=0.0)
    (failure,) = request.actions.failures
    assert failure.cause == cause


def test_a_hello_that_tells_of_many_games_fits_into_a_message() -> None:
    """Of those that don't fit nothing is told."""
    long = encode_moves(range(225))
    games = [KnownGame(str(10**8 + each), long, (7, 8)) for each in range(10_000)]
    hello = hello_to_proto(RandomBot(), name="any", digest="", session_id="", known_games=games)
    assert len(hello.hello.known_games) == MAX_KNOWN_GAMES
    assert hello.ByteSize() < MAX_BATCH_BYTES


def test_moves_say_what_they_took() -> None:
    """From the reading of the turn to this message, in microseconds; never 0, which says nothing."""
    actions = [
        Action(1, 0, 7, 99.75),
        Action(2, 0, Choice(7), 100.0),
        Action(3, 0, 7, 100.5),
        Action(4, 0, 7),
    ]
    (request,) = actions_to_proto(actions, now=100.0)
    assert [play.thinking_us for play in request.actions.plays] == [250_000, 1, 1, 0]


def test_actions_in_one_message() -> None:
    """Moves, resignations and failures of a batch share a message."""
    actions = [
        Action(1, 4, 112),
        Action(2, 6, Choice(7, Analysis(score=3))),
        Action(3, 8, Choice(9)),
        Action(4, 0, RESIGN),
        Action(5, 2, Failure("no idea")),
    ]
    (request,) = actions_to_proto(actions, now=0)
    plays = request.actions.plays
    assert [(play.game, play.ply, play.cell) for play in plays] == [
        (1, 4, 112),
        (2, 6, 7),
        (3, 8, 9),
    ]
    assert [play.HasField("analysis") for play in plays] == [False, True, False]
    assert [resign.game for resign in request.actions.resigns] == [4]
    assert [(failure.game, failure.message) for failure in request.actions.failures] == [
        (5, "no idea")
    ]


def test_large_batches_are_split() -> None:
    """No message is larger than servers accept, and the order of the moves is kept."""
    analysis = Analysis(pv=range(225), nodes=10**15)
    actions = [Action(number, 0, Choice(7, analysis)) for number in range(1_000)]
    requests = actions_to_proto(actions, now=0)
    assert len(requests) > 1
    assert all(request.ByteSize() <= MAX_BATCH_BYTES for request in requests)
    sent = [play.game for request in requests for play in request.actions.plays]
    assert sent == list(range(1_000))


def test_long_failure_is_cut() -> None:
    """A message is cut between characters."""
    (request,) = actions_to_proto([Action(1, 0, Failure("x" + "ü" * 1_000))], now=0)
    message = request.actions.failures[0].message
    assert len(message.encode()) == MAX_FAILURE_BYTES - 1
    assert set(message[1:]) == {"ü"}


def test_failure_beyond_utf_8() -> None:
    """A message from a file's name may hold what no text does, and is sent without it."""
    (request,) = actions_to_proto([Action(1, 0, Failure("no file \udcff"))], now=0)
    assert request.actions.failures[0].message == r"no file \udcff"


def test_analysis_is_clipped() -> None:
    """Numbers beyond the wire's ranges become the nearest that it has."""
    message = analysis_to_proto(
        Analysis(score=-(10**12), depth=10**12, nodes=10**30, pv=range(225))
    )
    assert message is not None
    assert (message.score, message.depth) == (-(2**31) + 1, 2**32 - 1)
    assert message.nodes == 2**64 - 1
    assert len(message.pv) == 2 * MAX_PV


@pytest.mark.parametrize(
    "analysis",
    [
        Analysis(score=math.nan),  # type: ignore[arg-type]
        Analysis(score=math.inf),  # type: ignore[arg-type]
        Analysis(depth=-1),
        Analysis(pv=[-1]),
        Analysis(pv=["h8"]),  # type: ignore[list-item]
        Analysis(pv={}),  # type: ignore[arg-type]
        {},
        {"score": 3},
        "",
        "winning",
        np.zeros(2),
    ],
)
def test_senseless_analysis_is_left_out(analysis: Any, caplog: pytest.LogCaptureFixture) -> None:
    """A move is never lost for what goes with it."""
    (request,) = actions_to_proto([Action(1, 0, Choice(7, analysis))], now=0)
    (play,) = request.actions.plays
    assert play.cell == 7
    assert not play.HasField("analysis")
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


def test_actions_of_openings() -> None:
    """Stones and sides have lists of their own, and say what they took."""
    (request,) = actions_to_proto(
        [Action(1, 0, Placement((7, 8, 9)), 1.0), Action(2, 3, Choose(Color.WHITE))], now=1.5
    )
    (placement,), (choice,) = request.actions.placements, request.actions.choices
    assert (placement.game, placement.ply, list(placement.cells)) == (1, 0, [7, 8, 9])
    assert placement.thinking_us == 500_000
    assert (choice.game, choice.ply, choice.color) == (2, 3, game_pb2.COLOR_WHITE)
    assert not request.actions.plays


def test_events() -> None:
    """Every kind of event is read."""
    response = play_service_pb2.PlayResponse()
    events = response.events
    started = events.started.add(
        game=1, game_id="g", color=game_pb2.COLOR_WHITE, opponent="rival", moves=b"\x07\x00"
    )
    started.time_control.per_move.FromTimedelta(timedelta(seconds=5))
    events.turns.add(game=1, ply=1, moves=b"\x07\x00", own_clock_ms=5, opponent_clock_ms=6)
    ended = events.ended.add(game=2)
    ended.outcome.ending = game_pb2.ENDING_DRAW
    events.notices.add(game=3, ply=9, detail="too late")
    asked = events.turns.add(game=4, ply=3)
    asked.task.stones, asked.task.may_choose = 2, True
    charge = asked.charge
    charge.raw_us, charge.lag_us, charge.charged_us = 9, 2, 7
    events.choices.add(game=4, color=game_pb2.COLOR_WHITE)
    assert message_from_proto(response, read_at=5) == Events(
        started=[
            GameStarted(
                number=1,
                game_id="g",
                variant=GOMOKU,
                time_control=TimeControl.parse("5/move"),
                color=Color.WHITE,
                opponent="rival",
                moves=b"\x07\x00",
            )
        ],
        turns=[
            Turn(number=1, ply=1, moves=b"\x07\x00", own_ms=5, opponent_ms=6, read_at=5),
            Turn(4, 3, b"", 0, 0, 5, OpeningTask(2, may_choose=True), Charge(9, 2, 7)),
        ],
        ended=[GameEnded(2, Outcome(Ending.DRAW))],
        notices=[Notice(3, 9, "too late")],
        choices=[SideChosen(4, Color.WHITE)],
    )


def test_other_facts() -> None:
    """Every other message is read, and one of a later protocol is nothing."""
    welcome = play_service_pb2.Welcome(
        session_id="s", bot_name="mine", grace_ms=1_500, running_games=2
    )
    assert message_from_proto(play_service_pb2.PlayResponse(welcome=welcome), read_at=5) == Welcome(
        session_id="s", bot_name="mine", grace=timedelta(seconds=1.5), running_games=2
    )
    ping = play_service_pb2.Ping(sequence=3)
    assert message_from_proto(play_service_pb2.PlayResponse(ping=ping), read_at=5) == Ping(3)
    draining = play_service_pb2.Draining()
    assert (
        message_from_proto(play_service_pb2.PlayResponse(draining=draining), read_at=5)
        == Draining()
    )
    assert message_from_proto(play_service_pb2.PlayResponse(), read_at=5) is None

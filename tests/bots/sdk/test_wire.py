"""Between the messages of `Play` and the words of this package."""

from __future__ import annotations

import logging
import math
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from meijin.bots import RESIGN, Analysis, Choice, RandomBot
from meijin.bots.sdk.answer import Failure
from meijin.bots.sdk.errors import MAX_FAILURE_BYTES
from meijin.bots.sdk.turn import Charge, Turn, turn_from_proto
from meijin.bots.sdk.wire import (
    MAX_BATCH_BYTES,
    MAX_KNOWN_GAMES,
    Action,
    ReturningGame,
    actions_to_proto,
    analysis_to_proto,
    hello_to_proto,
)
from meijin.game import Choose, Color, Placement, Task, decode_moves, encode_moves
from meijin.v1 import game_pb2, play_service_pb2
from meijin.wire.contract import MAX_PV


def sent(*answers: Any) -> play_service_pb2.Actions:
    """The one message with these answers, of games 1 and so on."""
    actions = [Action(number, 2, answer) for number, answer in enumerate(answers, 1)]
    (request,) = actions_to_proto(actions, now=0)
    return request.actions


def test_a_hello_that_tells_of_many_games_fits_into_a_message() -> None:
    """Of those that don't fit nothing is told."""
    long = encode_moves(range(225))
    games = [ReturningGame(str(10**8 + each), long, (7, 8)) for each in range(10_000)]
    hello = hello_to_proto(RandomBot(), name="any", digest="", session_id="", known_games=games)
    assert len(hello.hello.known_games) == MAX_KNOWN_GAMES
    assert hello.ByteSize() < MAX_BATCH_BYTES


def test_a_hello_tells_what_is_known_of_games() -> None:
    """The moves that were told, and the same with what was answered, as checksums."""
    told, answered = b"\0\0\x09\0", b"\0\0\x09\0\x01\0"
    games = [ReturningGame("1", told, (1,)), ReturningGame("2", b"", ())]
    hello = hello_to_proto(RandomBot(), name="any", digest="", session_id="", known_games=games)
    assert hello.hello.known_games == {
        "1": play_service_pb2.KnownGame(ply=2, moves_crc=crc32(told), answered_crc=crc32(answered)),
        "2": play_service_pb2.KnownGame(ply=0, moves_crc=0),
    }


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
    """Moves, resignations, failures and what openings ask for share a message."""
    actions = sent(
        *(112, Choice(7, Analysis(-7, 3, 99, [7, 8])), Choice(9), RESIGN),
        *(Failure("no idea"), Failure("no licence", is_suppliers=True)),
        *(Placement((7, 8, 9)), Choose(Color.WHITE)),
    )
    plays = [(play.game, play.ply, play.cell) for play in actions.plays]
    assert plays == [(1, 2, 112), (2, 2, 7), (3, 2, 9)]
    assert [play.HasField("analysis") for play in actions.plays] == [False, True, False]
    found = actions.plays[1].analysis
    assert (found.score, found.depth, found.nodes) == (-7, 3, 99)
    assert list(decode_moves(found.pv)) == [7, 8]
    assert [resign.game for resign in actions.resigns] == [4]
    assert [(each.game, each.message, each.cause) for each in actions.failures] == [
        (5, "no idea", play_service_pb2.FAILURE_CAUSE_BOT),
        (6, "no licence", play_service_pb2.FAILURE_CAUSE_SUPPLIER),
    ]
    (placement,), (choice,) = actions.placements, actions.choices
    assert (placement.game, placement.ply, list(placement.cells)) == (7, 2, [7, 8, 9])
    assert (choice.game, choice.ply, choice.color) == (8, 2, game_pb2.COLOR_WHITE)


def test_large_batches_are_split() -> None:
    """No message is larger than servers accept, and the order of the moves is kept."""
    analysis = Analysis(pv=range(225), nodes=10**15)
    actions = [Action(number, 0, Choice(7, analysis)) for number in range(1_000)]
    requests = actions_to_proto(actions, now=0)
    assert len(requests) > 1
    assert all(request.ByteSize() <= MAX_BATCH_BYTES for request in requests)
    sent = [play.game for request in requests for play in request.actions.plays]
    assert sent == list(range(1_000))


def test_failure_that_no_message_holds() -> None:
    """It is cut between characters, and sent without what no text may hold."""
    long, strange = sent(Failure("x" + "ü" * 1_000), Failure("no file \udcff")).failures
    assert len(long.message.encode()) == MAX_FAILURE_BYTES - 1
    assert set(long.message[1:]) == {"ü"}
    assert strange.message == r"no file \udcff"


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
    (play,) = sent(Choice(7, analysis)).plays
    assert play.cell == 7
    assert not play.HasField("analysis")
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


def test_turns() -> None:
    """What is left out is none."""
    asked = play_service_pb2.TurnRequested(
        game=4, ply=1, moves=b"\x07\x00", own_clock_ms=5, opponent_clock_ms=6
    )
    assert turn_from_proto(asked, read_at=5) == Turn(1, b"\x07\x00", 5, 6, 5)
    asked.task.stones, asked.task.may_choose = 2, True
    asked.charge.raw_us, asked.charge.lag_us, asked.charge.charged_us = 9, 2, 7
    told = turn_from_proto(asked, read_at=5)
    assert (told.task, told.charge) == (Task(2, may_choose=True), Charge(9, 2, 7))

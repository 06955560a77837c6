"""Between the wire's messages and our own types."""

from __future__ import annotations

from array import array
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration

from meijin.game import (
    GOMOKU,
    STANDARD,
    Ending,
    Party,
    Result,
    TimeControl,
    Variant,
    encode_moves,
)
from meijin.server.api.convert import (
    check_bot_name,
    game_to_proto,
    openings_from_proto,
    requested_time_control,
    requested_variant,
)
from meijin.server.errors import InvalidRequestError
from meijin.store.games import GameRow, encode_times
from meijin.store.schema import (
    BotId,
    BotVersionId,
    GameId,
    GameState,
    PairingId,
    TournamentId,
)
from meijin.v1 import game_pb2
from meijin.wire import time_control_to_proto

NOON = datetime(2026, 3, 4, 12, 0, 0, 123456, tzinfo=UTC)


def row(**changes: Any) -> GameRow:
    """A stored game that was won on move three."""
    plain: dict[str, Any] = {
        "id": GameId(7),
        "pairing_id": PairingId(1),
        "tournament_id": TournamentId(2),
        "variant": "standard 15x15",
        "time_control": "60+0.5",
        "black": "ada",
        "white": "bob",
        "black_id": BotId(1),
        "white_id": BotId(2),
        "black_version_id": BotVersionId(1),
        "white_version_id": BotVersionId(2),
        "black_version": "1.0",
        "white_version": "",
        "state": GameState.FINISHED,
        "opening_plies": 1,
        "moves": encode_moves((112, 113, 114)),
        "times": encode_times(array("Q", [10**9, 2]), array("Q", [5, 1])),
        "analysis": None,
        "result": Result.WHITE_WINS,
        "ending": Ending.TIME,
        "at_fault": Party.BLACK,
        "detail": "late",
        "start_time": NOON,
        "end_time": NOON + timedelta(seconds=3),
        "is_repeat": False,
        "reason": "",
    }
    return GameRow(**(plain | changes))


# -- names ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a", "A-1_b.C", "x" * 40])
def test_names_that_may_be_given(name: str) -> None:
    """Letters, digits and three signs."""
    check_bot_name(name)


@pytest.mark.parametrize("name", ["", "a b", "é", "x" * 41, "a\n", "a/b"])
def test_names_that_may_not(name: str) -> None:
    """The error says what may."""
    with pytest.raises(InvalidRequestError, match="1 to 40 letters"):
        check_bot_name(name)


# -- what is asked for ------------------------------------------------------------


def test_an_absent_variant_is_gomoku() -> None:
    """Freestyle on 15x15, five in a row."""
    assert requested_variant(game_pb2.Variant()) == GOMOKU


@pytest.mark.parametrize(
    "message",
    [game_pb2.Variant(width=4), game_pb2.Variant(line=2), game_pb2.Variant(height=2**32 - 1)],
)
def test_an_impossible_variant_names_its_field(message: game_pb2.Variant) -> None:
    """The caller learns where to look."""
    with pytest.raises(InvalidRequestError, match=r"^variant: "):
        requested_variant(message)


@pytest.mark.parametrize("text", ["60", "60+0.5", "5/move", "60+0.5,5/move", "604800+14400"])
def test_time_controls_come_back(text: str) -> None:
    """All four forms, up to the longest."""
    control = TimeControl.parse(text)
    assert requested_time_control(time_control_to_proto(control)) == control


@pytest.mark.parametrize(
    "message",
    [
        game_pb2.TimeControl(),
        game_pb2.TimeControl(increment=Duration(seconds=1)),
        game_pb2.TimeControl(initial=Duration(seconds=-1)),
        game_pb2.TimeControl(initial=Duration(seconds=2**62)),
        game_pb2.TimeControl(per_move=Duration(seconds=10**7)),
        game_pb2.TimeControl(initial=Duration(seconds=1), increment=Duration(seconds=14_401)),
    ],
)
def test_an_impossible_time_control_names_its_field(message: game_pb2.TimeControl) -> None:
    """Whatever is wrong with it."""
    with pytest.raises(InvalidRequestError, match=r"^time_control: "):
        requested_time_control(message)


def test_the_longest_game_can_be_told() -> None:
    """No clock under a time control that is accepted outgrows the wire's 32 bits."""
    longest = TimeControl.parse("604800+14400")
    assert longest.initial is not None
    moves_of_a_side = 22 * 22 // 2
    most = longest.initial + moves_of_a_side * longest.increment
    assert most // timedelta(milliseconds=1) < 2**32


def test_openings_are_lists_of_cells() -> None:
    """Two bytes a cell; an odd number is none."""
    assert openings_from_proto([encode_moves((1, 300)), b""]) == ((1, 300), ())
    with pytest.raises(InvalidRequestError, match=r"^openings: "):
        openings_from_proto([b"\0\0\0"])


# -- games ------------------------------------------------------------------------


def test_a_stored_game_is_told_whole() -> None:
    """Every field of the contract."""
    message = game_to_proto(row(), with_moves=True)
    assert (message.game_id, message.tournament_id) == ("7", "2")
    assert (message.black, message.black_version) == ("ada", "1.0")
    assert (message.white, message.white_version) == ("bob", "")
    assert message.variant.rule == game_pb2.RULE_STANDARD
    assert message.time_control.increment.ToMilliseconds() == 500
    assert message.state == game_pb2.GAME_STATE_FINISHED
    assert (message.opening_plies, message.ply) == (1, 3)
    assert message.outcome == game_pb2.Outcome(
        winner=game_pb2.COLOR_WHITE,
        ending=game_pb2.ENDING_TIME,
        at_fault=game_pb2.PARTY_BLACK,
        detail="late",
    )
    assert [move.cell for move in message.moves] == [112, 113, 114]
    assert [move.raw_time.ToNanoseconds() for move in message.moves] == [0, 10**9, 2]
    assert [move.charged_time.ToNanoseconds() for move in message.moves] == [0, 5, 1]
    assert message.start_time.ToDatetime(UTC) == NOON
    assert message.end_time.ToDatetime(UTC) == NOON + timedelta(seconds=3)


def test_a_game_says_that_it_is_not_rated_and_why_it_was_played() -> None:
    """In lists too."""
    repeat = game_to_proto(row(is_repeat=True, reason="it links them"), with_moves=False)
    assert (repeat.repeat, repeat.pairing_reason) == (True, "it links them")
    first = game_to_proto(row(), with_moves=True)
    assert (first.repeat, first.pairing_reason) == (False, "")


def test_a_running_game_has_no_outcome() -> None:
    """Nor an end; a list leaves the moves out."""
    running = row(state=GameState.RUNNING, ending=None, end_time=None, result=Result.NONE)
    message = game_to_proto(running, with_moves=False)
    assert not message.HasField("outcome")
    assert not message.HasField("end_time")
    assert (list(message.moves), message.ply) == ([], 3)
    assert (
        message.variant
        == game_to_proto(row(variant=str(Variant(rule=STANDARD))), with_moves=False).variant
    )

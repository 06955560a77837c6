"""Between the wire's messages and our own types."""

from __future__ import annotations

from datetime import timedelta

import pytest
from google.protobuf.duration_pb2 import Duration

from meijin.game import (
    GOMOKU,
    TimeControl,
    encode_moves,
)
from meijin.server.api.convert import (
    check_bot_name,
    openings_from_proto,
    requested_time_control,
    requested_variant,
)
from meijin.server.errors import InvalidRequestError
from meijin.v1 import game_pb2
from meijin.wire import time_control_to_proto


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

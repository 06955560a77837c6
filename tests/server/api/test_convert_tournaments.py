"""What a request asks a tournament to be."""

from __future__ import annotations

import pytest
from google.protobuf.duration_pb2 import Duration

from meijin.game import GOMOKU, TimeControl
from meijin.server.api.convert_tournaments import settings_from_proto
from meijin.server.errors import InvalidRequestError
from meijin.server.tournaments.creation import TournamentSettings
from meijin.v1 import game_pb2
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire import time_control_to_proto

MINUTE = time_control_to_proto(TimeControl.parse("60"))


def settings(
    variant: game_pb2.Variant | None = None, time_control: game_pb2.TimeControl = MINUTE
) -> TournamentSettings:
    """What is read of a request."""
    return settings_from_proto(pb.TournamentSettings(variant=variant, time_control=time_control))


def test_an_absent_variant_is_gomoku() -> None:
    """Freestyle on 15x15, five in a row."""
    assert settings().variant == GOMOKU


@pytest.mark.parametrize(
    "message",
    [game_pb2.Variant(width=4), game_pb2.Variant(line=2), game_pb2.Variant(height=2**32 - 1)],
)
def test_an_impossible_variant_names_its_field(message: game_pb2.Variant) -> None:
    """The caller learns where to look."""
    with pytest.raises(InvalidRequestError, match=r"^variant: "):
        settings(variant=message)


@pytest.mark.parametrize("text", ["60", "60+0.5", "5/move", "60+0.5,5/move", "604800+14400"])
def test_time_controls_come_back(text: str) -> None:
    """All four forms, up to the longest."""
    control = TimeControl.parse(text)
    assert settings(time_control=time_control_to_proto(control)).time_control == control


@pytest.mark.parametrize(
    "message",
    [
        game_pb2.TimeControl(),
        game_pb2.TimeControl(increment=Duration(seconds=1)),
        game_pb2.TimeControl(initial=Duration(seconds=-1)),
        game_pb2.TimeControl(initial=Duration(seconds=2**62)),
        game_pb2.TimeControl(per_move=Duration(seconds=10**7)),
    ],
)
def test_an_impossible_time_control_names_its_field(message: game_pb2.TimeControl) -> None:
    """Whatever is wrong with it."""
    with pytest.raises(InvalidRequestError, match=r"^time_control: "):
        settings(time_control=message)

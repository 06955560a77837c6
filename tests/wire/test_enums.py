"""Enums and their mirrors in the contract."""

from enum import Enum

import pytest

from meijin.game import Ending
from meijin.v1 import game_pb2
from meijin.wire.enums import enum_table


class Mood(Enum):
    """An enum that the contract doesn't mirror."""

    CHEERFUL = 1


def test_every_value_is_mirrored() -> None:
    """The contract has no ending that the game lacks."""
    values = set(enum_table(Ending, game_pb2.Ending).values())
    assert values | {game_pb2.ENDING_UNSPECIFIED} == set(game_pb2.Ending.values())


def test_missing_value() -> None:
    """A member without a mirror is found when the table is made."""
    with pytest.raises(ValueError, match="COLOR_CHEERFUL"):
        enum_table(Mood, game_pb2.Color)

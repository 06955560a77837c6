"""Values of the contract in the game's words, and back."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration

from meijin.game import (
    FREESTYLE,
    GOMOKU,
    OPENING_RULES,
    RULES,
    STANDARD,
    SWAP1,
    Color,
    Ending,
    Outcome,
    Party,
    TimeControl,
    Variant,
)
from meijin.v1 import game_pb2
from meijin.wire.values import (
    color_from_proto,
    color_to_proto,
    outcome_from_proto,
    outcome_to_proto,
    rule_from_proto,
    time_control_from_proto,
    time_control_to_proto,
    time_to_proto,
    variant_from_proto,
    variant_to_proto,
)

LATER = 77
"""A value that a later release may have added to any enum."""


def test_colors_come_back() -> None:
    """Either side is read as it was written; it has no default."""
    assert [color_from_proto(color_to_proto(color)) for color in Color] == list(Color)
    with pytest.raises(ValueError, match="no color 0"):
        color_from_proto(game_pb2.COLOR_UNSPECIFIED)


@pytest.mark.parametrize(
    ("read", "value", "noun"),
    [
        (color_from_proto, LATER, "color"),
        (rule_from_proto, LATER, "rule"),
        (outcome_from_proto, game_pb2.Outcome(ending=LATER), "ending"),  # type: ignore[arg-type]
        (outcome_from_proto, game_pb2.Outcome(ending=1, at_fault=LATER), "party"),  # type: ignore[arg-type]
    ],
)
def test_values_of_a_later_release(read: Callable[[Any], object], value: Any, noun: str) -> None:
    """What this release doesn't know is refused with what to do about it."""
    with pytest.raises(ValueError, match=f"no {noun} 77; install a newer one"):
        read(value)


@pytest.mark.parametrize(
    "variant",
    [
        *(Variant(rule) for rule in RULES.values()),
        Variant(STANDARD, 9, 19, 4, SWAP1),
        *(Variant(opening_rule=each) for each in OPENING_RULES.values()),
        Variant(draw_at=200),
    ],
    ids=str,
)
def test_variants_come_back(variant: Variant) -> None:
    """A variant is read as it was written."""
    assert variant_from_proto(variant_to_proto(variant)) == variant


def test_what_a_variant_leaves_out_is_as_in_gomoku() -> None:
    assert variant_from_proto(game_pb2.Variant()) == GOMOKU
    assert variant_from_proto(game_pb2.Variant(width=9)) == Variant(rule=FREESTYLE, width=9)


@pytest.mark.parametrize("text", ["60", "60+0.5", "5/move", "600+2,30/move"])
def test_time_controls_come_back(text: str) -> None:
    """A time control is read as it was written."""
    control = TimeControl.parse(text)
    assert time_control_from_proto(time_control_to_proto(control)) == control


def test_a_duration_of_zero_is_absent() -> None:
    """A clock of nothing is no clock, and a cap of nothing no cap."""
    zero = Duration()
    capped = game_pb2.TimeControl(initial=zero, increment=zero, per_move=Duration(seconds=5))
    assert time_control_from_proto(capped) == TimeControl.parse("5/move")
    timed = game_pb2.TimeControl(initial=Duration(seconds=60), per_move=zero)
    assert time_control_from_proto(timed) == TimeControl.parse("60")
    with pytest.raises(ValueError, match="no time control lasts as long"):
        time_control_from_proto(game_pb2.TimeControl(per_move=Duration(seconds=10**15)))


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(Ending.FIVE, Color.BLACK),
        Outcome(Ending.TIME, Color.WHITE, at_fault=Party.BLACK, detail="too late"),
        Outcome(Ending.FORBIDDEN, Color.WHITE, at_fault=Party.BLACK, detail="overline"),
        Outcome(Ending.DRAW),
        Outcome(Ending.ADJUDICATION),
        Outcome(Ending.VOID, None, at_fault=Party.SERVER),
    ],
    ids=str,
)
def test_outcomes_come_back(outcome: Outcome) -> None:
    """Without a winner a game is void where its ending says so, and else a draw."""
    assert outcome_from_proto(outcome_to_proto(outcome)) == outcome
    with pytest.raises(ValueError, match='"five" needs a winner'):
        outcome_from_proto(game_pb2.Outcome(ending=game_pb2.ENDING_FIVE))


def test_instants_are_written_in_utc() -> None:
    """Whatever zone they come in."""
    noon = datetime(2026, 3, 4, 12, 0, 0, 123456, tzinfo=UTC)
    elsewhere = noon.astimezone(timezone(timedelta(hours=9)))
    assert time_to_proto(elsewhere) == time_to_proto(noon)
    assert time_to_proto(elsewhere).ToDatetime(UTC) == noon

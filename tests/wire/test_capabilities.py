"""What a bot can play."""

from datetime import timedelta
from typing import Any

import pytest

from meijin.game import (
    FREE,
    FREESTYLE,
    GOMOKU,
    STANDARD,
    SWAP2,
    TIC_TAC_TOE,
    TimeControl,
    Variant,
)
from meijin.game.rules.rule import LineRule
from meijin.v1 import game_pb2
from meijin.v1 import play_service_pb2 as pb
from meijin.wire.capabilities import (
    Capabilities,
    capabilities_from_proto,
    capabilities_to_proto,
    move_time,
)

BLITZ = TimeControl.parse("60+0.5")


@pytest.mark.parametrize(
    ("capabilities", "variant", "objection"),
    [
        (Capabilities(), Variant(rule=STANDARD), "does not play standard"),
        (Capabilities(rules=(STANDARD,)), GOMOKU, "does not play freestyle"),
        (Capabilities(), Variant(width=14), "needs boards of at least 15x15"),
        (Capabilities(), Variant(height=14), "needs boards of at least 15x15"),
        (Capabilities(), Variant(width=16), "needs boards of at most 15x15"),
        (Capabilities(), Variant(height=16), "needs boards of at most 15x15"),
        (Capabilities(), Variant(line=6), "plays five in a row only"),
        (Capabilities(min_size=3), TIC_TAC_TOE, "plays five in a row only"),
        (Capabilities(), Variant(opening_rule=SWAP2), "does not play swap2 openings"),
        (Capabilities(opening_rules=(SWAP2,)), GOMOKU, "does not play free openings"),
        (Capabilities(min_move_time=timedelta(seconds=2.5)), GOMOKU, "needs 2.5 s a move"),
        # The bounds themselves are within.
        (Capabilities(), GOMOKU, None),
        (Capabilities(rules=(FREESTYLE, STANDARD)), Variant(rule=STANDARD), None),
        (Capabilities(min_size=9, max_size=19), Variant(width=9, height=19), None),
        (Capabilities(min_size=3, any_line=True), TIC_TAC_TOE, None),
        (Capabilities(min_move_time=timedelta(seconds=2)), GOMOKU, None),
    ],
)
def test_a_bot_objects_to_what_it_can_not_play(
    capabilities: Capabilities, variant: Variant, objection: str | None
) -> None:
    """The first thing that does not fit is named."""
    assert capabilities.objection(variant, BLITZ) == objection


@pytest.mark.parametrize(
    ("control", "seconds"),
    [("60", 1.5), ("60+0.5", 2), ("5/move", 5), ("60+0.5,5/move", 2), ("600,5/move", 5)],
)
def test_the_time_for_a_move(control: str, seconds: float) -> None:
    """A fortieth of the clock and the increment, or the cap, whichever is less."""
    assert move_time(TimeControl.parse(control)) == timedelta(seconds=seconds)


# -- on the wire ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("least", "most", "sizes"),
    [(0, 0, (15, 15)), (0, 19, (15, 19)), (19, 0, (19, 19)), (9, 0, (9, 15)), (3, 22, (3, 22))],
)
def test_board_sizes(least: int, most: int, sizes: tuple[int, int]) -> None:
    """Each bound is 15 when absent, unless the other one says more."""
    found = capabilities_from_proto(pb.Capabilities(min_board_size=least, max_board_size=most))
    assert (found.min_size, found.max_size) == sizes


def test_capabilities_come_back() -> None:
    """What is told of a bot is what it said; absent fields have the contract's defaults."""
    said = pb.Capabilities(
        rules=[game_pb2.RULE_STANDARD, game_pb2.RULE_FREESTYLE],
        min_board_size=9,
        max_board_size=19,
        max_games=64,
        min_move_time_ms=250,
        any_line=True,
        opening_rules=[game_pb2.OPENING_RULE_FREE, game_pb2.OPENING_RULE_SWAP2],
    )
    assert capabilities_to_proto(capabilities_from_proto(said)) == said
    assert capabilities_from_proto(pb.Capabilities()) == Capabilities()


@pytest.mark.parametrize(
    ("values", "rules"),
    [
        ([], (FREESTYLE,)),
        ([game_pb2.RULE_UNSPECIFIED], (FREESTYLE,)),
        ([game_pb2.RULE_STANDARD, 77], (STANDARD,)),
        ([77], ()),
        ([game_pb2.RULE_STANDARD] * 100_000, (STANDARD,)),
    ],
)
def test_known_rules_are_kept_once(values: list[Any], rules: tuple[Any, ...]) -> None:
    """A bot that plays nothing we know is not taken for one that plays freestyle.

    A hundred thousand times the same one would be looked through whenever games are planned.
    """
    assert capabilities_from_proto(pb.Capabilities(rules=values)).rules == rules


def test_what_can_not_be_written_or_read() -> None:
    """A rule that the contract doesn't know, and sizes that contradict each other."""
    capabilities = Capabilities(rules=(FREESTYLE, LineRule("pente", overline_wins=True)))
    with pytest.raises(ValueError, match="no rule pente"):
        capabilities_to_proto(capabilities)
    with pytest.raises(ValueError, match="min_board_size 19 is above max_board_size 15"):
        capabilities_from_proto(pb.Capabilities(min_board_size=19, max_board_size=15))


def test_a_part_of_a_millisecond_counts() -> None:
    """A bot is never paired at a faster time control than it asked for."""
    said = capabilities_to_proto(Capabilities(min_move_time=timedelta(microseconds=1500)))
    assert said.min_move_time_ms == 2


def test_opening_rules_are_read() -> None:
    """Those of a later release are left out; a bot that names none plays without them."""
    message = capabilities_to_proto(Capabilities(opening_rules=(FREE, SWAP2)))
    message.opening_rules.append(99)  # type: ignore[arg-type]
    assert capabilities_from_proto(message).opening_rules == (FREE, SWAP2)

"""What a bot can play."""

from datetime import timedelta

import pytest

from meijin.game import FREESTYLE, GOMOKU, STANDARD, TIC_TAC_TOE, TimeControl, Variant
from meijin.server.capabilities import Capabilities, move_time

BLITZ = TimeControl.parse("60+0.5")


def test_a_plain_bot_plays_gomoku() -> None:
    """Without further words a bot plays freestyle on 15x15 at any speed."""
    assert Capabilities().objection(GOMOKU, TimeControl.parse("0.001/move")) is None


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
    ],
)
def test_a_bot_objects_to_what_it_can_not_play(
    capabilities: Capabilities, variant: Variant, objection: str
) -> None:
    """The first thing that does not fit is named."""
    assert capabilities.objection(variant, BLITZ) == objection


@pytest.mark.parametrize(
    ("capabilities", "variant"),
    [
        (Capabilities(rules=(FREESTYLE, STANDARD)), Variant(rule=STANDARD)),
        (Capabilities(min_size=9, max_size=19), Variant(width=9, height=19)),
        (Capabilities(min_size=3, any_line=True), TIC_TAC_TOE),
    ],
)
def test_a_bot_plays_what_it_said(capabilities: Capabilities, variant: Variant) -> None:
    """The bounds themselves are within."""
    assert capabilities.objection(variant, BLITZ) is None


@pytest.mark.parametrize(
    ("control", "seconds"),
    [("60", 1.5), ("60+0.5", 2), ("5/move", 5), ("60+0.5,5/move", 2), ("600,5/move", 5)],
)
def test_the_time_for_a_move(control: str, seconds: float) -> None:
    """A fortieth of the clock and the increment, or the cap, whichever is less."""
    assert move_time(TimeControl.parse(control)) == timedelta(seconds=seconds)


def test_a_slow_bot_objects_to_a_fast_game() -> None:
    """A bot is not paired where it would forfeit."""
    slow = Capabilities(min_move_time=timedelta(seconds=2))
    assert slow.objection(GOMOKU, TimeControl.parse("60+0.5")) is None
    assert slow.objection(GOMOKU, TimeControl.parse("60")) == "needs 2 s a move"

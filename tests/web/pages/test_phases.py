"""The phases of an opening rule, as a game went through them."""

from dataclasses import replace

import pytest

from meijin.game import (
    FREE,
    SWAP1,
    SWAP2,
    YAMAGUCHI,
    Choose,
    Color,
    Decision,
    Declare,
    GameRecord,
    Offer,
    OpeningRule,
    Variant,
)
from meijin.web.pages.games.phases import OpeningPhase, phases


def record(rule: OpeningRule, plies: int, *decisions: Decision) -> GameRecord:
    """A game of ann, who has black in the end, against bob."""
    moves = tuple(range(0, 2 * plies, 2))
    return GameRecord(Variant(opening_rule=rule), "ann", "bob", moves=moves, decisions=decisions)


def test_the_second_player_chooses_after_three_stones() -> None:
    """Bob, who had the second seat, chose white: the first player is ann."""
    assert tuple(phases(record(SWAP2, 9, Decision(3, Choose(Color.WHITE))))) == (
        OpeningPhase("placed", 3, "ann", 3),
        OpeningPhase("chose", 3, "bob", color=Color.WHITE),
    )


def test_the_first_player_chooses_after_two_more() -> None:
    """Bob, who placed the first three, chose white in the end."""
    assert tuple(phases(record(SWAP2, 9, Decision(5, Choose(Color.WHITE))))) == (
        OpeningPhase("placed", 3, "bob", 3),
        OpeningPhase("added", 5, "ann", 2),
        OpeningPhase("chose", 5, "bob", color=Color.WHITE),
    )


@pytest.mark.parametrize(("plies", "kinds"), [(0, 0), (2, 0), (3, 1), (4, 1), (5, 2)])
def test_a_running_opening_shows_what_was_done(plies: int, kinds: int) -> None:
    """No side is chosen yet."""
    assert len(list(phases(record(SWAP2, plies)))) == kinds


def test_one_stone_is_placed_under_the_pie_rule() -> None:
    placed, chose = phases(record(SWAP1, 9, Decision(1, Choose(Color.BLACK))))
    assert (placed.player, placed.stones) == ("bob", 1)
    assert (chose.player, chose.color) == ("ann", Color.BLACK)


def test_offers_are_told_with_their_cells() -> None:
    """What was declared, what was offered, and which of it was taken."""
    decisions = (
        Decision(3, Declare(2)),
        Decision(3, Choose(Color.WHITE)),
        Decision(4, Offer((15, 16))),
    )
    moves = (112, 98, 99, 0, 16)
    game = GameRecord(Variant(opening_rule=YAMAGUCHI), "ann", "bob", moves, decisions=decisions)
    assert tuple(phases(game)) == (
        OpeningPhase("placed", 3, "ann", 3),
        OpeningPhase("declared", 3, "ann", 2),
        OpeningPhase("chose", 3, "bob", color=Color.WHITE),
        OpeningPhase("placed", 4, "bob", 1),
        OpeningPhase("offered", 4, "ann", 2, cells="a14, b14"),
        OpeningPhase("took", 5, "bob", 1, cells="b14"),
    )


def test_other_games_have_no_phases() -> None:
    """Stones are placed one by one, or the opening was set up."""
    assert tuple(phases(record(FREE, 9))) == ()
    assert tuple(phases(replace(record(SWAP2, 9), opening_plies=5))) == ()

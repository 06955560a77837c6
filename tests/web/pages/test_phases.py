"""The phases of an opening rule, as a game went through them."""

from dataclasses import replace

import pytest

from meijin.game import FREE, SWAP1, SWAP2, Color, GameRecord, OpeningRule, SideChoice, Variant
from meijin.web.pages.games.phases import OpeningPhase, phases


def record(rule: OpeningRule, plies: int, choice: SideChoice | None) -> GameRecord:
    """A game of ann, who has black in the end, against bob."""
    moves = tuple(range(0, 2 * plies, 2))
    return GameRecord(Variant(opening_rule=rule), "ann", "bob", moves=moves, choice=choice)


def test_the_second_player_chooses_after_three_stones() -> None:
    """Bob, who had the second seat, chose white: the first player is ann."""
    assert tuple(phases(record(SWAP2, 9, SideChoice(3, Color.WHITE)))) == (
        OpeningPhase("placed", 3, "ann", 3),
        OpeningPhase("chose", 3, "bob", color=Color.WHITE),
    )


def test_the_first_player_chooses_after_two_more() -> None:
    """Bob, who placed the first three, chose white in the end."""
    assert tuple(phases(record(SWAP2, 9, SideChoice(5, Color.WHITE)))) == (
        OpeningPhase("placed", 3, "bob", 3),
        OpeningPhase("added", 5, "ann", 2),
        OpeningPhase("chose", 5, "bob", color=Color.WHITE),
    )


@pytest.mark.parametrize(("plies", "kinds"), [(0, 0), (2, 0), (3, 1), (4, 1), (5, 2)])
def test_a_running_opening_shows_what_was_done(plies: int, kinds: int) -> None:
    """No side is chosen yet."""
    assert len(list(phases(record(SWAP2, plies, None)))) == kinds


def test_one_stone_is_placed_under_the_pie_rule() -> None:
    placed, chose = phases(record(SWAP1, 9, SideChoice(1, Color.BLACK)))
    assert (placed.player, placed.stones) == ("bob", 1)
    assert (chose.player, chose.color) == ("ann", Color.BLACK)


def test_other_games_have_no_phases() -> None:
    """Stones are placed one by one, or the opening was set up."""
    assert tuple(phases(record(FREE, 9, None))) == ()
    assert tuple(phases(replace(record(SWAP2, 9, None), opening_plies=5))) == ()

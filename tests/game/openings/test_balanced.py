"""The balanced lists of each rule."""

from __future__ import annotations

import pytest

from meijin.game import (
    CARO,
    CARO_EXACT,
    FREESTYLE,
    GOMOKU,
    RENJU,
    STANDARD,
    TIC_TAC_TOE,
    Variant,
    check_opening,
    openings_for,
    parse_opening,
)
from meijin.game.board.symmetry import position_key
from meijin.game.openings.balanced import FIRST, SIDES, balanced_openings

LISTED = [Variant(rule, side, side) for rule, sides in SIDES.items() for side in sides]


@pytest.mark.parametrize("variant", LISTED, ids=str)
def test_each_list_is_whole(variant: Variant) -> None:
    """Of four to seven stones in the middle 7x7; no two are the same, and all can be played."""
    openings = balanced_openings(variant)
    assert len(openings) >= 1039
    assert len({position_key(opening, variant) for opening in openings}) == len(openings)
    assert {len(opening) for opening in openings} == {4, 5, 6, 7}
    edge = variant.width // 2 - 3
    axes = {
        axis for opening in openings for cell in opening for axis in divmod(cell, variant.width)
    }
    assert axes == set(range(edge, edge + 7))
    for opening in openings:
        check_opening(opening, variant)


def test_each_rule_has_its_own() -> None:
    """Forty of them are dealt first; those of freestyle are not renju's."""
    lists = {openings_for(Variant(rule)) for rule in (FREESTYLE, STANDARD, RENJU, CARO, CARO_EXACT)}
    assert len(lists) == 5
    assert {len(openings) for openings in lists} == {FIRST}
    assert parse_opening("10,10 9,7 7,7 10,5 9,6", GOMOKU) == openings_for(GOMOKU)[0]


@pytest.mark.parametrize(
    ("variant", "listed"),
    [
        (Variant(STANDARD, 9, 9), Variant(STANDARD)),
        (Variant(width=17, height=22), Variant()),
        (Variant(width=18, height=18), Variant(width=20, height=20)),
        (Variant(width=22, height=22), Variant(width=20, height=20)),
        (Variant(RENJU, 20, 20), Variant(RENJU)),
        (Variant(RENJU, draw_at=200), Variant(RENJU)),
    ],
    ids=str,
)
def test_other_sizes_take_the_nearest_list(variant: Variant, listed: Variant) -> None:
    """About the centre: of an even side, the cell right of the middle or below it."""
    side = listed.width
    shift = (variant.height // 2 - side // 2, variant.width // 2 - side // 2)
    expected = [
        tuple((c // side + shift[0]) * variant.width + c % side + shift[1] for c in opening)
        for opening in openings_for(listed)
    ]
    assert list(openings_for(variant)) == expected
    for opening in openings_for(variant):
        check_opening(opening, variant)


@pytest.mark.parametrize(
    "variant",
    [TIC_TAC_TOE, Variant(width=8, height=22), Variant(width=22, height=8), Variant(line=6)],
)
def test_no_balanced_openings(variant: Variant) -> None:
    """Without room, or with another line than five, games start from the empty board."""
    assert openings_for(variant) == ((),)

"""The openings that a test is dealt beside the balanced forty."""

from __future__ import annotations

import pytest

from meijin.game import GOMOKU, RENJU, STANDARD, TIC_TAC_TOE, Variant, check_opening, openings_for
from meijin.game.board.symmetry import position_key
from meijin.game.openings.book import MOST_SMALL, generated_openings

VARIANTS = [
    GOMOKU,
    TIC_TAC_TOE,
    Variant(STANDARD, 9, 9),
    Variant(width=10, height=22),
    Variant(width=8, height=8),
    Variant(width=5, height=5),
    Variant(line=6),
    Variant(width=22, height=8),
]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_openings_are_distinct_and_playable(variant: Variant) -> None:
    """No two are the same up to symmetry, the forty among them."""
    openings = (*openings_for(variant), *generated_openings(variant))
    assert len({position_key(opening, variant) for opening in openings}) == len(openings)
    for opening in openings:
        check_opening(opening, variant)


def test_there_are_as_many_as_the_list_has() -> None:
    """On every board with room for them, but for the forty that come first."""
    for variant in (GOMOKU, Variant(width=10, height=17)):
        assert len(generated_openings(variant)) == 1000
    assert len(generated_openings(Variant(RENJU))) == 1000


def test_other_boards_have_a_few_stones_near_the_centre() -> None:
    """The fewest first: on 3x3 one in a corner, on a side and in the middle, and so on."""
    openings = generated_openings(TIC_TAC_TOE)
    assert [sorted(map(len, openings)).count(stones) for stones in (1, 2, 3)] == [3, 12, 38]
    assert [len(opening) for opening in openings] == sorted(map(len, openings))
    assert len(generated_openings(Variant(width=8, height=8))) == MOST_SMALL

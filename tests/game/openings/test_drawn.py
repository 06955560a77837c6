"""Random openings, from which lists are vetted."""

from __future__ import annotations

from itertools import islice

from meijin.game import GOMOKU, Variant
from meijin.game.board.symmetry import images_of, position_key
from meijin.game.openings.drawn import drawn_openings


def test_no_two_drawn_are_the_same() -> None:
    """Up to symmetry; a seed gives the same ones."""
    drawn = list(islice(drawn_openings(GOMOKU, 2), 300))
    assert len({position_key(opening, GOMOKU) for opening in drawn}) == 300
    assert drawn == list(islice(drawn_openings(GOMOKU, 2), 300))
    assert not set(images_of(drawn[0], GOMOKU)) & set(drawn)


def test_the_stones_lie_in_the_middle() -> None:
    """Four to seven, in the 7x7 around the centre of any board with room for them."""
    drawn = list(islice(drawn_openings(Variant(width=20, height=9), 1), 200))
    assert {len(opening) for opening in drawn} == {4, 5, 6, 7}
    rows, columns = zip(*(divmod(cell, 20) for opening in drawn for cell in opening), strict=True)
    assert (min(rows), max(rows)) == (1, 7)
    assert (min(columns), max(columns)) == (7, 13)

"""The picture of a position in the openings explorer."""

from meijin.game import Variant, parse_cell
from meijin.web.pages.openings import LARGEST, SMALLEST, BoardPicture, radius

NARROW = Variant.parse("freestyle 7x5")


def test_things_stand_where_they_are() -> None:
    """Columns from the left, rows from the bottom, on a board of any form."""
    board = BoardPicture(NARROW)
    assert (board.width, board.height) == (320, 240)
    places = [board.at(cell) for cell in (0, 34, parse_cell("c4", NARROW))]
    assert places == [(40, 40), (280, 200), (120, 80)]
    assert (board.lines.count("V"), board.lines.count("H")) == (7, 5)
    assert [text for _, _, text in board.labels] == [*"abcdefg", *"54321"]


def test_marks_grow_with_their_share() -> None:
    """From what a number fits into to what leaves the neighbours alone."""
    radii = [radius(share) for share in (0, 0.25, 1)]
    assert radii == sorted({SMALLEST, radii[1], LARGEST})

"""The board of an explored position."""

from meijin.game import Variant, parse_cell
from meijin.web.pages.opening_board import LARGEST, SMALLEST, OpeningBoard, Played

NARROW = Variant.parse("freestyle 7x5")


def played(name: str, share: float) -> Played:
    """A move with a share of the games."""
    return Played(parse_cell(name, NARROW), "/openings?moves=" + name, share, 0.5, "even")


def test_things_stand_where_they_are() -> None:
    """Columns from the left, rows from the bottom, on a board of any form."""
    board = OpeningBoard.of(NARROW, [0, 34], [played("c4", 0.25)])
    assert (board.width, board.height) == (320, 240)
    assert [(each.x, each.y, each.is_black, each.number) for each in board.stones] == [
        (40, 40, True, 1),
        (280, 200, False, 2),
    ]
    (mark,) = board.marks
    assert (mark.x, mark.y, mark.name) == (120, 80, "c4")
    assert board.lines.count("V") == 7
    assert board.lines.count("H") == 5
    texts = [each.text for each in board.labels]
    assert texts == [*"abcdefg", *"54321"]


def test_marks_grow_with_their_share() -> None:
    """From what a number fits into to what leaves the neighbours alone."""
    board = OpeningBoard.of(NARROW, [], [played("a1", share) for share in (0, 0.25, 1)])
    radii = [mark.radius for mark in board.marks]
    assert radii[0] == SMALLEST
    assert radii == sorted(set(radii))
    assert radii[-1] == LARGEST

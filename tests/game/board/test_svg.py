"""Boards as pictures: what is drawn, and what notebooks show."""

import xml.etree.ElementTree as ET

import pytest

from meijin.bots import Position
from meijin.game import Board, GameRecord, TimeControl, Variant, cell_name
from meijin.game.board.svg import LAST, LINE, board_svg, star_points
from meijin.game.records.record import parse_position

SVG = "{http://www.w3.org/2000/svg}"
WON = "h8a1h9b1h10c1h11d1h12"


def board(moves: str, variant: str = "15x15") -> Board:
    kind = Variant.parse(variant)
    return Board.from_moves(parse_position(moves, kind), kind)


def circles(text: str) -> list[dict[str, str]]:
    return [each.attrib for each in ET.fromstring(text).iter(f"{SVG}circle")]


def test_stones_lie_on_their_cells() -> None:
    """Column a is on the left, row 1 at the bottom."""
    white, black, last = circles(board_svg(board("a1c2", "3x3 line 3")))
    assert (white["cx"], white["cy"], white["class"]) == ("48", "24", "white")
    assert (black["cx"], black["cy"], black["class"]) == ("0", "48", "black")
    assert (last["cx"], last["stroke"]) == ("48", LAST)


@pytest.mark.parametrize("numbers", [True, False])
def test_a_winning_line_is_marked(numbers: bool) -> None:  # noqa: FBT001 - a parameter
    """From end to end, and the last stone; numbers, from 1 on, can be left out."""
    picture = board_svg(board(WON), numbers=numbers)
    assert [each["class"] for each in circles(picture)].count("last") == 1
    assert f'd="M168 72L168 168" stroke="{LINE}"' in picture
    assert LINE not in board_svg(board(WON), winning=False)
    texts = [each.text for each in ET.fromstring(picture).iter()]
    coordinates = [*"abcdefghijklmno", *map(str, range(15, 0, -1))]
    moves = [str(number) for number in range(1, 10)] if numbers else []
    assert [text for text in texts if text and text.strip()][1:] == [*coordinates, *moves]


@pytest.mark.parametrize(
    ("variant", "stars"),
    [
        ("15x15", "d12 l12 h8 d4 l4"),
        ("19x19", "d16 j16 p16 d10 j10 p10 d4 j4 p4"),
        ("20x20", "d17 q17 d4 q4"),
        ("9x9", "c7 g7 e5 c3 g3"),
        ("15x9", "d7 l7 h5 d3 l3"),
        ("7x7", ""),
    ],
)
def test_star_points(variant: str, stars: str) -> None:
    """They are symmetrical, and none is on a small board."""
    kind = Variant.parse(variant)
    assert " ".join(cell_name(cell, kind) for cell in star_points(kind)) == stars


def test_small_boards_have_no_names() -> None:
    """Their margins are as narrow as stones need."""
    picture = board_svg(board("h8"), names=False)
    assert ">15</text>" not in picture
    assert 'viewBox="-15 -15 366 366"' in picture


def test_forbidden_cells_are_crossed_out() -> None:
    """Those that black may not play on in renju; asked for, and not after the end."""
    position = board("h8a1i8a3j10a5j11a7", "renju 15x15")
    crosses = position.svg(forbidden=True).count("l10 10m0 -10l-10 10")
    assert crosses == sum(
        position.stone(cell) is None and not position.is_legal(cell) for cell in range(225)
    )
    assert crosses > 0
    assert "l10 10" not in position.svg()
    assert "l10 10" not in board(WON).svg(forbidden=True)


def test_notebooks_show_boards() -> None:
    """A board, a position and a record by the method that they look for."""
    shown = board(WON)
    record = GameRecord(shown.variant, "ada", "bob", tuple(shown.moves))
    assert record._repr_svg_() == shown.svg()
    assert shown._repr_svg_() == shown.svg(forbidden=True)
    position = Position(board("h8"), TimeControl.parse("1/move"))
    assert position._repr_svg_() == position.board._repr_svg_()

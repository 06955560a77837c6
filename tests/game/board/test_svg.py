"""Boards as pictures: what is drawn, and what notebooks show."""

import xml.etree.ElementTree as ET

import pytest

from meijin.bots import Position
from meijin.game import Board, GameRecord, TimeControl, Variant
from meijin.game.board.svg import LAST, LINE, board_svg
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
    black, white, last = circles(board_svg(board("a1c2", "3x3 line 3")))
    assert (black["cx"], black["cy"], black["fill"]) == ("78", "54", "#fafafa")
    assert (white["cx"], white["cy"], white["fill"]) == ("30", "78", "#111")
    assert (last["cx"], last["stroke"]) == ("78", LAST)


@pytest.mark.parametrize("numbers", [True, False])
def test_a_winning_line_is_marked(numbers: bool) -> None:  # noqa: FBT001 - a parameter
    """All five stones of it, and the last stone too; numbers, from 1 on, can be left out."""
    picture = board_svg(board(WON), numbers=numbers)
    strokes = [each["stroke"] for each in circles(picture)]
    assert strokes == ["#333"] * 9 + [LINE] * 5 + [LAST]
    texts = [each.text for each in ET.fromstring(picture).iter()]
    coordinates = [*"abcdefghijklmno", *map(str, range(15, 0, -1))]
    moves = [str(number) for number in range(1, 10)] if numbers else []
    assert [text for text in texts if text and text.strip()][1:] == [*coordinates, *moves]


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

"""Games as pictures of pixels."""

from io import BytesIO

import pytest
from hypothesis import given, settings
from PIL import Image, ImageColor
from tests.game.made_records import records
from tests.web.pages.test_game import RECORD

from meijin.game import Board, GameRecord, Variant
from meijin.game.board.svg import LAST, WOOD, board_svg
from meijin.web.pictures.drawing import drawing
from meijin.web.pictures.game_image import CARD, SQUARE, card_png, square_png
from meijin.web.static import FOLDER


def pixels(picture: bytes) -> Image.Image:
    return Image.open(BytesIO(picture), formats=["PNG"]).convert("RGB")


def has(picture: Image.Image, color: str) -> bool:
    """Whether a colour, or nearly that, is in a picture."""
    wanted = ImageColor.getrgb(color)
    colors = picture.getcolors(1 << 20) or []
    return any(
        isinstance(found, tuple)
        and all(abs(a - b) < 12 for a, b in zip(found, wanted, strict=True))
        for _, found in colors
    )


def is_green(found: tuple[int, object]) -> bool:
    match found:
        case (_, (int(red), int(green), int(blue))):
            return green > max(red, blue) + 50
    return False


def square(record: GameRecord, ply: int) -> Image.Image:
    return pixels(square_png(drawn(record, ply)))


def drawn(record: GameRecord, ply: int) -> str:
    return board_svg(Board.from_moves(record.moves[:ply], record.variant))


def test_stones_lie_where_they_were_played() -> None:
    """The first one, black, is in the middle of the board; before it there is wood."""
    x = y = SQUARE // 2
    beside = (x + 11, y)  # its number stands in the middle, within a ring
    assert max(square(RECORD, 1).getpixel(beside)) < 60  # type: ignore[arg-type]
    empty = square(RECORD, 0)
    assert not has(empty, LAST)
    assert has(empty, WOOD)


def test_the_line_that_has_won_is_drawn() -> None:
    before, after = (square(RECORD, ply).getcolors(1 << 20) or [] for ply in (8, 9))
    assert not any(map(is_green, before))
    assert any(map(is_green, after))


def test_the_logo_is_drawn_on_the_ground() -> None:
    """Its corners are round; below on the left is its black stone, on the right a white one."""
    logo = drawing((FOLDER / "icon.svg").read_text("utf-8"), 320, "#0000ff")
    assert logo.getpixel((2, 2)) == (0, 0, 255)
    colors = [logo.getpixel(place) for place in ((115, 255), (220, 220), (160, 160))]
    assert [sum(color) // 192 for color in colors] == [0, 3, 2]  # type: ignore[arg-type]


@settings(max_examples=10, deadline=None)
@given(records())
def test_any_game_has_a_card(record: GameRecord) -> None:
    """Whatever its names, its size, its end and its number of moves."""
    ply = len(record.moves)
    assert pixels(card_png(drawn(record, ply), record, ply=ply, result="void")).size == CARD


@pytest.mark.parametrize("variant", ["standard 22x22", "standard 5x22", "3x3 line 3"])
def test_boards_of_every_size_are_squares(variant: str) -> None:
    """Also those with more rows than columns."""
    record = GameRecord(Variant.parse(variant), "ann", "bob", moves=(4, 0))
    assert square(record, 2).size == (SQUARE, SQUARE)

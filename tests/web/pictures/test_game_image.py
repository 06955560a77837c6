"""Games as pictures of pixels."""

from io import BytesIO

import pytest
from hypothesis import given, settings
from PIL import Image, ImageColor
from tests.game.made_records import records
from tests.web.pages.test_game import RECORD

from meijin.game import GameRecord, Variant
from meijin.game.board.svg import LAST, WOOD
from meijin.web.pictures.game_image import CARD, SQUARE, card_png, square_png


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


def test_stones_lie_where_they_were_played() -> None:
    """The first one, black, is in the middle of the board; before it there is wood."""
    x = y = SQUARE // 2
    beside = (x + 7, y + 7)  # its number stands in the middle
    assert max(pixels(square_png(RECORD, 1)).getpixel(beside)) < 60  # type: ignore[arg-type]
    empty = pixels(square_png(RECORD, 0))
    assert not has(empty, LAST)
    assert has(empty, WOOD)


def test_a_ply_beyond_the_end_shows_the_end() -> None:
    """Links may carry any number."""
    assert square_png(RECORD, 10**6) == square_png(RECORD, 9)
    assert square_png(RECORD, -1) == square_png(RECORD, 0)


@settings(max_examples=10, deadline=None)
@given(records())
def test_any_game_has_a_card(record: GameRecord) -> None:
    """Whatever its names, its size, its end and its number of moves."""
    assert pixels(card_png(record, len(record.moves))).size == CARD


@pytest.mark.parametrize("variant", ["standard 22x22", "standard 5x22", "3x3 line 3"])
def test_boards_of_every_size_are_squares(variant: str) -> None:
    """Also those with more rows than columns."""
    record = GameRecord(Variant.parse(variant), "ann", "bob", moves=(4, 0))
    assert pixels(square_png(record, 2)).size == (SQUARE, SQUARE)

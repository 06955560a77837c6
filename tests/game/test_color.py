"""The two sides."""

from meijin.game import Color


def test_other() -> None:
    """Each side is the opponent of the other."""
    assert Color.BLACK.other is Color.WHITE
    assert Color.WHITE.other is Color.BLACK


def test_symbol() -> None:
    """Black is printed x and white o."""
    assert [color.symbol for color in Color] == ["x", "o"]

"""Lettering: text of others in a picture, whatever characters it has and however long it is."""

import unicodedata
from functools import cache

from PIL import ImageFont

from meijin.wire.text import plain_text

MISSING = "?"
"""In place of what the font has no glyph for."""
ELLIPSIS = "..."
MAX_LETTERS = 200
"""Of a text that is looked at; no picture holds more in a line."""
_NOWHERE = "\uffff"
"""A character that no font has."""


@cache
def font(size: int) -> ImageFont.FreeTypeFont:
    """Pillow's own font, so that a picture looks the same on every machine."""
    found = ImageFont.load_default(size)
    if not isinstance(found, ImageFont.FreeTypeFont):
        raise TypeError("Pillow has been built without FreeType")
    # Letters in the order written: the other layout turns directions and joins marks.
    return found.font_variant(layout_engine=ImageFont.Layout.BASIC)


def drawable(text: str) -> str:
    """A text in one line with no control character, and with a mark where a glyph is missing."""
    plain = unicodedata.normalize("NFC", plain_text(text))[:MAX_LETTERS]
    return "".join(map(_drawn, plain))


def _drawn(letter: str) -> str:
    """A letter, or the same without its accents, as far as the font has it."""
    base = unicodedata.normalize("NFKD", letter)[0]
    return next((each for each in (letter, base) if _has_glyph(each)), MISSING)


@cache
def _blank(size: int = 20) -> bytes:
    return bytes(font(size).getmask(_NOWHERE))


def _has_glyph(letter: str) -> bool:
    return letter == " " or (letter.isprintable() and bytes(font(20).getmask(letter)) != _blank())


def fitted(
    text: str, *, width: int, largest: int, least: int
) -> tuple[str, ImageFont.FreeTypeFont]:
    """A text and the font that it is drawn with, no wider than `width` pixels.

    The font is made smaller first, down to the least size, and then the text is cut.
    """
    shown = drawable(text)
    for size in range(largest, least - 1, -2):
        if font(size).getlength(shown) <= width:
            return shown, font(size)
    small = font(least)
    while shown and small.getlength(shown + ELLIPSIS) > width:
        shown = shown[:-1]
    return shown + ELLIPSIS, small

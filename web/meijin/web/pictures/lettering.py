"""Lettering: text of others in a picture, whatever characters it has and however long it is."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont, features

from meijin.web.static import FOLDER
from meijin.wire.text import plain_text

MISSING = "?"
"""In place of what no font has a glyph for."""
ELLIPSIS = "..."
MAX_LETTERS = 200
"""Of a text that is looked at; no picture holds more in a line."""
FONT_FILE = FOLDER / "fonts" / "figtree.woff2"
WEIGHT = 600
BROAD_FILE = Path(__file__).parent / "lettering.woff2"
"""GNU Unifont by way of UnifontEX, what names are written in of it: nearly all living scripts."""
BROAD_SIZE = 48
"""That font is opened once, in 0.1 s, and reduced from this size."""
LAYOUT = ImageFont.Layout.RAQM if features.check("raqm") else ImageFont.Layout.BASIC
"""Joins the letters of Arabic and turns its words around, where there is a libfribidi."""
_NOWHERE = "\uffff"
"""A character that no font has."""
_UNSEEN = re.compile("[\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e01ef]")
"""What makes another emoji or variant of what stands before it."""


@cache
def font(size: int) -> ImageFont.FreeTypeFont:
    """The font of the pages."""
    # Letters in the order written: the other layout turns directions and joins marks.
    found = ImageFont.truetype(FONT_FILE, size, layout_engine=ImageFont.Layout.BASIC)
    found.set_variation_by_axes([WEIGHT])
    return found


@cache
def _broad() -> ImageFont.FreeTypeFont:
    """The font of all words that the pages' lacks a letter of."""
    return ImageFont.truetype(BROAD_FILE, BROAD_SIZE, layout_engine=LAYOUT)


@dataclass(frozen=True, slots=True)
class Run:
    """Words that are drawn with the same font."""

    text: str
    is_broad: bool

    def width(self, size: int) -> float:
        if self.is_broad:
            return _broad().getlength(self.text) * size / BROAD_SIZE
        return font(size).getlength(self.text)

    def draw(
        self, draw: ImageDraw.ImageDraw, left: float, baseline: float, size: int, fill: str
    ) -> None:
        if not self.is_broad:
            draw.text((left, baseline), self.text, fill=fill, font=font(size), anchor="ls")
            return
        wide, high = round(_broad().getlength(self.text)), 2 * BROAD_SIZE
        mask = Image.new("L", (max(1, wide), high))
        place = (0, BROAD_SIZE * 3 // 2)
        ImageDraw.Draw(mask).text(place, self.text, fill=255, font=_broad(), anchor="ls")
        mask = mask.resize((max(1, wide * size // BROAD_SIZE), 2 * size))
        draw.bitmap((round(left), round(baseline - size * 1.5)), mask, fill=fill)


@dataclass(frozen=True, slots=True)
class Line:
    """A text as it is drawn."""

    runs: tuple[Run, ...]
    size: int

    @property
    def text(self) -> str:
        return "".join(run.text for run in self.runs)

    @property
    def width(self) -> float:
        """Pixels."""
        return sum(run.width(self.size) for run in self.runs)

    def draw(self, draw: ImageDraw.ImageDraw, place: tuple[float, float], fill: str) -> None:
        """Draw it to the right of a place, and in the middle of that height."""
        left, middle = place
        ascent, descent = font(self.size).getmetrics()
        for run in self.runs:
            run.draw(draw, left, middle + (ascent - descent) / 2, self.size, fill)
            left += run.width(self.size)


def fitted(text: str, *, width: int, largest: int, least: int) -> Line:
    """A text in one line of at most `width` pixels.

    It is made smaller first, down to the least size, and then cut.
    """
    runs = _runs(drawable(text))
    for size in range(largest, least - 1, -2):
        line = Line(runs, size)
        if line.width <= width:
            return line
    shown = "".join(run.text for run in runs)
    while shown and line.width > width:
        shown = shown[:-1]
        line = Line(_runs(shown + ELLIPSIS), least)
    return line


def drawable(text: str) -> str:
    """A text in one line with no control character, and with a mark where a glyph is missing."""
    plain = _UNSEEN.sub("", unicodedata.normalize("NFC", plain_text(text)))[:MAX_LETTERS]
    return "".join(
        letter if _has_glyph(letter) else MISSING for letter in plain if _is_seen(letter)
    )


def _is_seen(letter: str) -> bool:
    is_joiner = letter in "\u200c\u200d" and LAYOUT is ImageFont.Layout.RAQM
    return letter.isprintable() or is_joiner


def _has_glyph(letter: str) -> bool:
    return _has(letter, is_broad=False) or _has(letter, is_broad=True) or letter in "\u200c\u200d"


def _runs(text: str) -> tuple[Run, ...]:
    """The words of a text with their fonts; those of one font that follow each other together."""
    words = groupby(re.findall(" *[^ ]+| +$", text), _is_broad)
    return tuple(Run("".join(together), is_broad) for is_broad, together in words)


def _is_broad(word: str) -> bool:
    return not all(_has(letter, is_broad=False) for letter in word)


@lru_cache(10_000)
def _has(letter: str, *, is_broad: bool) -> bool:
    letters = _broad() if is_broad else font(20)
    return letter == " " or bytes(letters.getmask(letter)) != bytes(letters.getmask(_NOWHERE))

"""Text of others in pictures."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont

from meijin.web.pictures import lettering
from meijin.web.pictures.lettering import MISSING, Line, Run, drawable, fitted


def pixels(text: str) -> bytes:
    """What is drawn of a text."""
    image = Image.new("L", (600, 80))
    fitted(text, width=600, largest=48, least=24).draw(ImageDraw.Draw(image), (0, 40), "white")
    return image.tobytes()


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("alphabeta-2", "alphabeta-2"),
        ("E\N{COMBINING ACUTE ACCENT}mile", "Émile"),
        ("<script>", "<script>"),
        ("a\tb\x00\x1b[2J", "a b[2J"),
        ("a\N{RIGHT-TO-LEFT OVERRIDE}b", "ab"),
        ("\N{EGYPTIAN HIEROGLYPH A001}x", f"{MISSING}x"),
        ("❤\ufe0f 👩🏽", "❤ 👩"),
        ("", ""),
    ],
)
def test_text_is_drawn_as_far_as_there_are_glyphs(text: str, drawn: str) -> None:
    """Controls and variants are left out, and a missing glyph has a mark."""
    assert drawable(text) == drawn


@pytest.mark.parametrize(
    "name",
    [
        "名人",
        "명인",
        "Ёжик",
        "Ё\u0301",
        "محمد",
        "שלום",
        "नमस्ते",
        "ไทย",
        "தமிழ்",
        "ქართული",
        "🦔",
        "👨\u200d👩\u200d👧",
    ],
)
def test_every_script_is_drawn(name: str) -> None:
    """No name looks as if its letters were missing, nor as if it were not there."""
    shown = drawable(name)
    assert MISSING not in shown
    assert pixels(name) not in {pixels(""), pixels(MISSING * len(shown))}


def test_words_are_drawn_with_one_font_each() -> None:
    """That of the pages where it has all their letters."""
    runs = fitted("九琴bot 奕 v 1.0", width=600, largest=48, least=24).runs
    assert runs == (Run("九琴bot 奕", is_broad=True), Run(" v 1.0", is_broad=False))


def test_a_joined_family_is_no_wider_for_its_joiners() -> None:
    assert drawable("👨\u200d👩").replace("\u200d", "") == "👨👩"
    wide, joined = (
        fitted(text, width=600, largest=48, least=24) for text in ("👨👩", "👨\u200d👩")
    )
    assert joined.width == wide.width


def test_without_a_bidirectional_library_text_is_drawn_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Some machines have no libfribidi: joiners are left out then, which nothing would hide."""
    monkeypatch.setattr(lettering, "LAYOUT", ImageFont.Layout.BASIC)
    assert drawable("👨\u200d👩") == "👨👩"


@settings(max_examples=30, deadline=None)
@given(
    st.text(max_size=400) | st.text("a \u200c\u200d\ufe0f👩م名क्", max_size=60), st.integers(60, 600)
)
def test_a_line_is_never_wider_than_its_place(text: str, width: int) -> None:
    """Whatever is in it; it is made smaller, and then cut."""
    line = fitted(text, width=width, largest=48, least=24)
    assert line.width <= width
    line.draw(ImageDraw.Draw(Image.new("L", (width, 80))), (0, 40), "white")


def test_a_short_name_is_drawn_large() -> None:
    """And one that fits no size is cut with a sign of it."""
    whole = Line((Run("ann", is_broad=False),), 48)
    assert fitted("ann", width=400, largest=48, least=24) == whole
    cut = fitted("n" * 60, width=400, largest=48, least=24)
    assert cut.text.endswith("...")
    assert cut.size == 24

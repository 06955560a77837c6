"""Text of others in pictures."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meijin.web.pictures.lettering import MISSING, drawable, fitted, font


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("alphabeta-2", "alphabeta-2"),
        ("Émile", "Emile"),
        ("E\N{COMBINING ACUTE ACCENT}mile", "Emile"),
        ("<script>", "<script>"),
        ("a\tb\x00\x1b[2J", "a b[2J"),
        ("a\N{RIGHT-TO-LEFT OVERRIDE}b", "ab"),
        ("\N{CJK UNIFIED IDEOGRAPH-540D}x", f"{MISSING}x"),
        ("\N{ARABIC LETTER BEH}", MISSING),
        ("", ""),
    ],
)
def test_text_is_drawn_as_far_as_there_are_glyphs(text: str, drawn: str) -> None:
    """Accents and controls are left out, and a missing glyph has a mark."""
    assert drawable(text) == drawn


@settings(max_examples=30)
@given(st.text(max_size=400), st.integers(60, 600))
def test_a_line_is_never_wider_than_its_place(text: str, width: int) -> None:
    """Whatever is in it; it is made smaller, and then cut."""
    shown, letters = fitted(text, width=width, largest=48, least=24)
    assert letters.getlength(shown) <= width


def test_a_short_name_is_drawn_large() -> None:
    """And one that fits no size is cut with a sign of it."""
    assert fitted("ann", width=400, largest=48, least=24) == ("ann", font(48))
    shown, letters = fitted("n" * 60, width=400, largest=48, least=24)
    assert shown.endswith("...")
    assert letters is font(24)

"""Control characters in the texts of others."""

import re
import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.wire.contract import MAX_DISPLAY_NAME
from meijin.wire.text import check_display_name, check_text, minute_text, plain_lines, plain_text


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("\x1b[31m", "U\\+001B"),
        ("\x9b31m", "U\\+009B"),
        ("\0", "U\\+0000"),
        ("\x7f", "U\\+007F"),
        ("\n", "U\\+000A"),
        ("\u202egnp.exe", "U\\+202E"),
        ("\u2066x\u2069", "U\\+2066"),
        ("\u200f", "U\\+200F"),
        ("\u2028", "U\\+2028"),
    ],
)
def test_a_control_character_is_refused(text: str, code: str) -> None:
    """The message says where it stands, and writes none of it."""
    with pytest.raises(ValueError, match=f"^character 3 is a control character, {code}$"):
        check_text(f"ab{text}")


@pytest.mark.parametrize("text", ["", "2[/x]", "größer 五子棋 🙂", "a b", "עברית"])
def test_everything_else_is_text(text: str) -> None:
    """Whatever the language, and markup of others too."""
    assert check_text(text) == plain_text(text) == text


@pytest.mark.parametrize(
    ("offset", "text"),
    [
        (None, "2026-12-01 17:00 UTC"),
        (0, "2026-12-01 17:00 UTC"),
        (60, "2026-12-01 18:00 UTC+01:00"),
        (-570, "2026-12-01 07:30 UTC-09:30"),
    ],
)
def test_a_time_is_told_with_its_zone(offset: int | None, text: str) -> None:
    assert minute_text(datetime(2026, 12, 1, 17, tzinfo=UTC), offset) == text


def test_free_text_keeps_its_words() -> None:
    """A line follows another behind a space; escapes end as the plain characters in them."""
    assert (
        plain_text("out of memory\r\n\tat \x1b[31mply 9\x1b[0m\0")
        == "out of memory   at [31mply 9[0m"
    )


def test_free_text_keeps_its_lines() -> None:
    """Whatever they end with, and their indents; every line is plain."""
    assert plain_lines("one\r\n  two\x1b[0m\u2028three\x85\n") == "one\n  two[0m\nthree\n"
    assert plain_lines("") == ""


@given(st.text())
def test_nothing_plain_is_refused(text: str) -> None:
    """What is left has no control character, by Unicode's own classes."""
    kept = check_text(plain_text(text))
    assert not [each for each in kept if unicodedata.category(each) == "Cc"]
    directions = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    assert not [each for each in kept if unicodedata.bidirectional(each) in directions]


# -- display names ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Ada Lovelace", "Ada Lovelace"),
        ("  Ada   Lovelace ", "Ada Lovelace"),
        ("A\u0308rger", "Ärger"),
        ("名人", "名人"),
        ("محمد\u200cرضا", "محمدرضا"),  # noqa: RUF001 - what is meant
        ("नमस्ते", "नमस्ते"),
        ("\ufeffAda", "Ada"),
    ],
)
def test_names_of_any_script(text: str, name: str) -> None:
    """Composed, and without characters that have no width."""
    assert check_display_name(text) == name


@pytest.mark.parametrize(
    "name",
    [
        "👨\u200d👩\u200d👧 family",
        "👩🏽\u200d🚀",
        "🏳\ufe0f\u200d🌈 🏴\u200d☠\ufe0f",
        "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",  # Scotland's flag
        "1\ufe0f\u20e3 ©\ufe0f 🇫🇮",
        "می\u200cخواهم",  # noqa: RUF001 - Persian
        "ක්\u200dෂ",  # Sinhala
        "क्\u200cष क्\u200d",  # Hindi
        "葛\U000e0100城",
    ],
)
def test_what_is_joined_stays_whole(name: str) -> None:
    """Where a joiner, a tag or a selector changes what is seen."""
    assert check_display_name(name) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("A\u200dda\u200c", "Ada"),
        ("\u200d👩\u200d", "👩"),
        ("👩\u200dAda", "👩Ada"),
        ("Ada\u200d👩", "Ada👩"),
        ("👩\u200d\u200d👧", "👩👧"),
        ("\u200cمی\u200c", "می"),
        ("د\u200cر", "در"),  # a dal joins nothing behind it
        ("क\u200dष", "कष"),  # no virama
        ("A\ufe0fd\u034fa", "Ada"),
        ("Ada\u3164\u2800\uffa0\u115f", "Ada"),
        ("👩\U000e0067\U000e007f", "👩"),
    ],
)
def test_what_nobody_sees_is_left_out(text: str, name: str) -> None:
    """Two names that look the same are the same."""
    assert check_display_name(text) == name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1 to 60 characters, and this 0"),
        ("\u200d\u3164\ufe0f", "1 to 60 characters, and this 0"),
        (" ", "1 to 60 characters, and this 0"),
        ("x" * 61, "1 to 60 characters, and this 61"),
        ("a\x1b[31m", "character 2 of a display name can't be printed, U+001B; leave it out"),
        ("a\nb", "U+000A"),
        ("\u202eevil", "U+202E"),
        ("a\u2066b", "U+2066"),
        ("\ue000", "U+E000"),
        ("z" + "\u0335" * 5, "more than 4 marks"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        check_display_name(text)
    assert message in str(caught.value)


JOINED = st.text("\u200c\u200d\ufe0f\u034f👩☠क्यम\u0654و \U0001f3f4\U000e0067\U000e007f")


@given(st.text(max_size=80) | JOINED)
def test_what_is_kept_is_printable_and_stays(text: str) -> None:
    """A name that was taken is taken again, as it is."""
    try:
        name = check_display_name(text)
    except ValueError:
        return
    assert re.sub("[\u200c\u200d\U000e0020-\U000e007f]", "", name).isprintable()
    assert 0 < len(name) <= MAX_DISPLAY_NAME
    assert check_display_name(name) == name

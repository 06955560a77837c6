"""Display names: any script, and nothing that would disturb a screen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.wire.contract import MAX_DISPLAY_NAME
from meijin.wire.display_name import check_display_name


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
    ("text", "message"),
    [
        ("", "1 to 60 characters, and this 0"),
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
    """With what to do."""
    with pytest.raises(ValueError, match=r".") as caught:
        check_display_name(text)
    assert message in str(caught.value)


@given(st.text(max_size=80))
def test_what_is_kept_is_printable_and_stays(text: str) -> None:
    """A name that was taken is taken again, as it is."""
    try:
        name = check_display_name(text)
    except ValueError:
        return
    assert name.isprintable()
    assert 0 < len(name) <= MAX_DISPLAY_NAME
    assert check_display_name(name) == name

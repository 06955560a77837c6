"""What the pages of bots compute."""

import pytest

from meijin.web.pages.bots.bot import ordinal


@pytest.mark.parametrize(
    ("number", "text"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (13, "13th"), (122, "122nd")],
)
def test_places_are_ordinals(number: int, text: str) -> None:
    assert ordinal(number) == text

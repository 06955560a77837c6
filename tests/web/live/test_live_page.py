"""The page of live boards."""

import pytest

from meijin.web.pages.live import clock_text


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0, "0:00.0"),
        (9_999, "0:09.9"),
        (10_000, "0:10"),
        (61_000, "1:01"),
        (3_600_000, "1:00:00"),
        (86_461_000, "24:01:01"),
    ],
)
def test_clocks_are_written(milliseconds: int, text: str) -> None:
    """Minutes and seconds, with tenths when there are few."""
    assert clock_text(milliseconds) == text

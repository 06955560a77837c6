"""Durations as decimal seconds."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.game.seconds import format_seconds, parse_seconds


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (timedelta(0), "0"),
        (timedelta(seconds=60), "60"),
        (timedelta(seconds=0.5), "0.5"),
        (timedelta(microseconds=1), "0.000001"),
        (timedelta(days=7), "604800"),
        (timedelta(seconds=0.1) + timedelta(seconds=0.2), "0.3"),
    ],
)
def test_written_form(duration: timedelta, text: str) -> None:
    """No digits stand after the last one that counts."""
    assert format_seconds(duration) == text


@given(st.timedeltas(timedelta(0), timedelta(days=10_000)))
def test_parse_reads_what_format_writes(duration: timedelta) -> None:
    """Every duration is read back to the microsecond."""
    assert parse_seconds(format_seconds(duration)) == duration


def test_zeros_at_the_end() -> None:
    """Zeros after the last digit that counts are accepted."""
    assert parse_seconds("1.500000") == timedelta(seconds=1.5)


@pytest.mark.parametrize("text", ["", ".5", "5.", "-1", "1e3", "0.0000001", "1s", "٣"])
def test_garbage(text: str) -> None:
    """The error for another text shows how seconds are written."""
    with pytest.raises(ValueError, match=r'is no number of seconds; write it like "60" or "0\.5"'):
        parse_seconds(text)

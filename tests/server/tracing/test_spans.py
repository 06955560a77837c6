"""What a span is a part of."""

from datetime import UTC, datetime, timedelta

import pytest

from meijin.server.tracing.spans import (
    Parent,
    format_trace_id,
    game_trace_id,
    nanoseconds,
    read_parent,
)

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
LATER = NOON + timedelta(microseconds=1)
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


def test_a_games_trace_follows_from_its_row() -> None:
    """It begins with the id, so that whoever has the one finds the other.

    It is the same for the next server, and another one in another database.
    """
    shown = format_trace_id(game_trace_id(17, NOON))
    assert (len(shown), int(shown[:16], 16)) == (32, 17)
    assert game_trace_id(17, NOON) == game_trace_id(17, NOON) != game_trace_id(17, LATER)
    assert nanoseconds(LATER) - nanoseconds(NOON) == 1000


def test_a_callers_span_is_read() -> None:
    """As W3C's Trace Context has it."""
    parent = read_parent(f"00-{TRACE}-{SPAN}-01")
    assert parent == Parent(int(TRACE, 16), int(SPAN, 16), flags=1)


@pytest.mark.parametrize(
    "header",
    [
        *(None, "", b"00-", "nonsense", "00-" + "a" * 8_000),
        *(f"00-{TRACE}-{SPAN}{end}" for end in ("", "-01-more", "-01\n")),
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
    ],
)
def test_what_is_no_span_is_ignored(header: str | bytes | None) -> None:
    """A header is others' words: what isn't what it should be is as if it were not there."""
    assert read_parent(header) is None

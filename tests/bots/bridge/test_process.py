"""Lines of any end, any length and any bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.bots.bridge.process import MANY_LINES, MAX_LINE, LineBuffer


def lines_of(*chunks: bytes) -> list[str]:
    buffer = LineBuffer()
    for chunk in chunks:
        buffer.feed(chunk)
    return list(iter(buffer.pop, None))


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n", b"\n\n", b"\r\r\n"])
def test_ends(end: bytes) -> None:
    """CR, LF and both end a line; empty lines are left out."""
    assert lines_of(b"OK" + end + b"7,7" + end) == ["OK", "7,7"]


def test_end_in_two_chunks() -> None:
    """CR and LF that come one after the other end one line."""
    assert lines_of(b"OK\r", b"\n7,", b"7\r", b"\n") == ["OK", "7,7"]


def test_bytes_that_are_no_text() -> None:
    """NULs and byte order marks are taken out; what is no UTF-8 is replaced."""
    assert lines_of(b"\xef\xbb\xbfO\0K\n", b"\0\n", b"caf\xe9\n") == ["OK", "caf\ufffd"]
    assert lines_of("OK\r\n7,7\r\n".encode("utf-16")) == ["OK", "7,7"]


def test_long_line() -> None:
    """No more than this many bytes of a line are kept, and the next line is whole."""
    buffer = LineBuffer()
    for _ in range(100):
        buffer.feed(b"x" * 1000)
        assert len(buffer.partial) <= MAX_LINE
    buffer.feed(b"\n7,7\n")
    assert buffer.pop() == "x" * MAX_LINE
    assert buffer.pop() == "7,7"


def test_partial_line() -> None:
    """What has come of a line can be looked at, and taken as a line."""
    buffer = LineBuffer()
    buffer.feed(b"OK\n7,")
    assert buffer.pop() == "OK"
    assert (buffer.pop(), buffer.partial) == (None, "7,")
    buffer.feed(b"7")
    assert (buffer.pop_partial(), buffer.partial) == ("7,7", "")
    buffer.feed(b"\n")
    assert buffer.pop() is None


@given(st.lists(st.binary(max_size=40)))
def test_chunks_make_no_difference(chunks: list[bytes]) -> None:
    """However it is cut, the same output has the same lines."""
    assert lines_of(*chunks, b"\n") == lines_of(b"".join(chunks) + b"\n")


def test_of_a_flood_of_messages_the_last_are_kept() -> None:
    """Nothing else is lost of it."""
    lines = LineBuffer()
    flood = [f"MESSAGE {number}" for number in range(1000)]
    lines.feed("\n".join([*flood[:500], "7,7", *flood[500:], ""]).encode())
    kept = list(iter(lines.pop, None))
    assert kept == ["MESSAGE 0", "7,7", *flood[-MANY_LINES:]]

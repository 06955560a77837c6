"""A tournament's openings in one column."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.game import encode_moves
from meijin.store.tournaments.openings import decode_openings, encode_openings

OPENING = st.lists(st.integers(0, 483), max_size=20).map(encode_moves)


@given(st.lists(OPENING, max_size=20))
def test_openings_come_back(openings: list[bytes]) -> None:
    """In their order, the empty ones among them."""
    assert decode_openings(encode_openings(openings)) == tuple(openings)


def test_the_layout_is_fixed() -> None:
    """The length in plies and each cell take two bytes, little-endian."""
    data = encode_openings([encode_moves((258, 7)), b"", encode_moves((3,))])
    assert data == bytes((2, 0, 2, 1, 7, 0, 0, 0, 1, 0, 3, 0))


@pytest.mark.parametrize("openings", [(), (b"",)])
def test_no_opening_is_another_thing_than_an_empty_one(openings: tuple[bytes, ...]) -> None:
    """Both come back as they are."""
    assert decode_openings(encode_openings(openings)) == openings

"""A tournament's openings in one column."""

from hypothesis import strategies as st
from sqlalchemy.dialects import sqlite

from meijin.game import encode_moves
from meijin.store.schema.tournaments import Openings

COLUMN, DIALECT = Openings(), sqlite.dialect()
OPENING = st.lists(st.integers(0, 483), max_size=20).map(encode_moves)


def test_the_layout_is_fixed() -> None:
    """The length in plies and each cell take two bytes, little-endian."""
    data = COLUMN.process_bind_param([encode_moves((258, 7)), b"", encode_moves((3,))], DIALECT)
    assert data == bytes((2, 0, 2, 1, 7, 0, 0, 0, 1, 0, 3, 0))

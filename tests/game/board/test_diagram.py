"""Printed boards."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.game import Color, Variant
from meijin.game.board.diagram import format_diagram, parse_diagram

SMALL = Variant(width=5, height=6)


@given(st.text(alphabet="xo.", min_size=30, max_size=30))
def test_parse_reads_what_format_writes(symbols: str) -> None:
    """Every stone is read back from its cell."""
    stones = {cell: Color(" xo".index(s)) for cell, s in enumerate(symbols) if s != "."}
    assert parse_diagram(format_diagram(symbols, SMALL.width), SMALL) == stones


@pytest.mark.parametrize("text", ["x\n\n..o", "x//..o", "x..../...../..o../", " x . \n\n . . o\n"])
def test_short_forms(text: str) -> None:
    """Slashes end rows like newlines; cells at the ends may be missing, blanks may stand."""
    assert parse_diagram(text, SMALL) == {0: Color.BLACK, 12: Color.WHITE}


def test_unknown_symbol() -> None:
    """The error for an unknown symbol shows the known ones."""
    with pytest.raises(ValueError, match=r'"#" is no stone; write x, o or \.'):
        parse_diagram("x#", SMALL)


def test_row_too_long() -> None:
    """A row may not run over the right side."""
    with pytest.raises(ValueError, match="column 5, row 0 is off the 5x6 board"):
        parse_diagram("......", SMALL)


def test_too_many_rows() -> None:
    """There may not be more rows than the board has."""
    with pytest.raises(ValueError, match="7 rows are too many for the 5x6 board"):
        parse_diagram("//////", SMALL)

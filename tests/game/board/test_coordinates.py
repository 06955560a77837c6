"""Names of cells."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.game import GOMOKU, Variant, cell_at, cell_name, parse_cell

WIDE = Variant(width=22, height=12)


@pytest.mark.parametrize(
    ("cell", "variant", "name"),
    [
        (112, GOMOKU, "h8"),
        (0, GOMOKU, "a15"),
        (14, GOMOKU, "o15"),
        (224, GOMOKU, "o1"),
        (8, GOMOKU, "i15"),
        (21, WIDE, "v12"),
        (242, WIDE, "a1"),
    ],
)
def test_name(cell: int, variant: Variant, name: str) -> None:
    """Letters run from the left without a gap, numbers from the bottom; capitals are accepted."""
    assert cell_name(cell, variant) == name
    assert parse_cell(f" {name.upper()}\n", variant) == cell


@given(st.integers(5, 22), st.integers(5, 22))
def test_parse_reads_every_name(width: int, height: int) -> None:
    """`parse_cell` is the inverse of `cell_name`."""
    variant = Variant(width=width, height=height)
    names = [cell_name(cell, variant) for cell in range(variant.cells)]
    assert [parse_cell(name, variant) for name in names] == list(range(variant.cells))


@pytest.mark.parametrize("text", ["", "h", "8", "8h", "h08", "hh8", "h8 i9", "h-1", "h٨", "h100"])
def test_garbage(text: str) -> None:
    """The error for a text that is no name shows one."""
    with pytest.raises(ValueError, match='is no cell; write a column letter and a row, like "h8"'):
        parse_cell(text, GOMOKU)


@pytest.mark.parametrize("text", ["p8", "h16", "z1", "h99"])
def test_name_off_the_board(text: str) -> None:
    with pytest.raises(ValueError, match="is off the 15x15 board"):
        parse_cell(text, GOMOKU)


@pytest.mark.parametrize("cell", [-1, 225])
def test_cell_off_the_board(cell: int) -> None:
    with pytest.raises(ValueError, match=f"cell {cell} is off the 15x15 board"):
        cell_name(cell, GOMOKU)


@pytest.mark.parametrize(("column", "row"), [(-1, 0), (22, 0), (0, -1), (0, 12)])
def test_no_such_column_or_row(column: int, row: int) -> None:
    """They count from the top left, and one off the board never counts into the next one."""
    assert cell_at(21, 1, WIDE) == 43
    with pytest.raises(ValueError, match="is off the 22x12 board"):
        cell_at(column, row, WIDE)

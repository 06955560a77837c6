"""The lines and neighbourhoods of a board."""

import pytest

from meijin.bots.geometry import geometry_of
from meijin.game import GOMOKU, TIC_TAC_TOE, Variant


@pytest.mark.parametrize(
    ("variant", "lines"),
    [
        (TIC_TAC_TOE, 8),
        (GOMOKU, 2 * 15 * 11 + 2 * 11 * 11),
        (Variant(width=5, height=6, line=6), 5),
        (Variant(width=4, height=3, line=3), 2 * 3 + 4 + 2 * 2),
    ],
)
def test_number_of_lines(variant: Variant, lines: int) -> None:
    """Every line of the board is there once."""
    geometry = geometry_of(variant)
    assert len(geometry.lines) == lines
    assert len({frozenset(line) for line in geometry.lines}) == lines
    assert all(len(line) == variant.line for line in geometry.lines)


def test_lines_through_a_cell() -> None:
    """A cell knows its lines: in tic-tac-toe four, three or two of them."""
    geometry = geometry_of(TIC_TAC_TOE)
    assert [len(lines) for lines in geometry.through] == [3, 2, 3, 2, 4, 2, 3, 2, 3]
    for cell, lines in enumerate(geometry.through):
        assert all(cell in geometry.lines[line] for line in lines)


def test_ends() -> None:
    """A line has a cell beyond each end, except at the edge."""
    geometry = geometry_of(Variant(width=6, height=5, line=5))
    ends = dict(zip(geometry.lines, geometry.ends, strict=True))
    assert ends[0, 1, 2, 3, 4] == (5,)
    assert ends[1, 2, 3, 4, 5] == (0,)
    assert ends[0, 6, 12, 18, 24] == ()
    assert ends[5, 10, 15, 20, 25][:1] != (0,)


def test_near() -> None:
    """Near cells are at most two rows and two columns away."""
    geometry = geometry_of(GOMOKU)
    assert len(geometry.near[112]) == 24
    assert set(geometry.near[0]) == {1, 2, 15, 16, 17, 30, 31, 32}


def test_centre() -> None:
    """The centre of 15x15 is h8."""
    assert geometry_of(GOMOKU).centre == 112
    assert geometry_of(TIC_TAC_TOE).centre == 4

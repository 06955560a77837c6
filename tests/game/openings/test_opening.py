"""Openings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.game import (
    GOMOKU,
    SWAP2,
    TIC_TAC_TOE,
    Board,
    Variant,
    check_opening,
    format_opening,
    parse_opening,
)


@pytest.mark.parametrize("text", ["h8 i9 j10", "7,7 8,6 9,5", " h8\n8,6\tJ10 "])
def test_forms(text: str) -> None:
    """Cells are names, or column and row from the top left."""
    assert parse_opening(text, GOMOKU) == (112, 98, 84)


@given(st.lists(st.integers(0, 59)))
def test_parse_reads_what_format_writes(cells: list[int]) -> None:
    """`parse_opening` is the inverse of `format_opening`."""
    variant = Variant(width=12, height=5)
    assert parse_opening(format_opening(cells, variant), variant) == tuple(cells)


@pytest.mark.parametrize("text", ["15,0", "0,15", "h8 p8", "7;7", "7,7,7", "-1,0", "7,7i9"])
def test_unreadable_cell(text: str) -> None:
    """A cell off the board, or in another form, is refused."""
    with pytest.raises(ValueError, match=r"is off the 15x15 board|is no cell"):
        parse_opening(text, GOMOKU)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("h8 i9 h8", "h8 is occupied"),
        ("a15 a14 b15 b14 c15 c14 d15 d14 e15", "the opening a15 .* e15 ends the game"),
        ("a15 a14 b15 b14 c15 c14 d15 d14 e15 e14", "the game is over"),
    ],
)
def test_check(text: str, message: str) -> None:
    """An opening that can't be played, or leaves nothing to play, is refused."""
    with pytest.raises(ValueError, match=message):
        check_opening(parse_opening(text, GOMOKU), GOMOKU)
    with pytest.raises(ValueError, match="cell 112 is off the 3x3 board"):
        check_opening([112], TIC_TAC_TOE)
    with pytest.raises(ValueError, match="with swap2 the players place the first stones"):
        check_opening([112], Variant(opening_rule=SWAP2))


def test_check_accepts_a_running_game() -> None:
    """An opening may be anything that leaves the game open, and may be any iterable."""
    cells = [0, 1, 2, 3, 5, 4, 7, 6]
    check_opening(iter(cells), TIC_TAC_TOE)
    assert not Board.from_moves(cells, TIC_TAC_TOE).is_over

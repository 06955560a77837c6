"""Renju: what is forbidden to black."""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from renju.check_forbid import get_foul_type
from tests.game import oracle
from tests.game.boards import has_won, place

from meijin.game import RENJU, Board, Color, Variant, parse_cell
from meijin.game.rules.renju import Foul, foul_at

GOLDEN = Path(__file__).parents[2] / "data" / "renju_forbidden_points.tsv"
RENJU_15 = Variant(RENJU)
FOULS = {0: None, 1: Foul.DOUBLE_THREE, 2: Foul.DOUBLE_FOUR, 3: Foul.OVERLINE}
"""As the package `renju` numbers them."""


def cells_of(names: str) -> set[int]:
    return {parse_cell(name, RENJU_15) for name in names.split()}


def scatter(variant: Variant, seed: int, black: float, white: float) -> Board:
    """A board with stones at random, as dense as these shares."""
    rng = random.Random(seed)
    draws = [rng.random() for _ in range(variant.cells)]
    blacks = {cell for cell, draw in enumerate(draws) if draw < black}
    whites = {cell for cell, draw in enumerate(draws) if black <= draw < black + white}
    return place(blacks, whites, variant)


def empty_cells(board: Board) -> list[int]:
    return [cell for cell in range(board.variant.cells) if board.stone(cell) is None]


def forbidden_cells(board: Board) -> set[int]:
    return {cell for cell in empty_cells(board) if RENJU.forbids(board, cell, Color.BLACK)}


def test_golden_positions() -> None:
    """Every forbidden point of 2,500 positions is found, and no other."""
    positions = 0
    for line in GOLDEN.read_text().splitlines():
        symbols, _, listed = line.partition("\t")
        points = (point.split(",") for point in listed.split(";") if point)
        expected = {15 * int(row) + int(column) for column, row in points}
        black = {cell for cell, symbol in enumerate(symbols) if symbol == "o"}
        white = {cell for cell, symbol in enumerate(symbols) if symbol == "x"}
        assert forbidden_cells(place(black, white, RENJU_15)) == expected, symbols
        positions += 1
    assert positions == 2_500


@given(
    st.integers(5, 9),
    st.integers(5, 9),
    st.integers(),
    st.floats(0.1, 0.4),
    st.floats(0, 0.2),
)
def test_small_boards(width: int, height: int, seed: int, black: float, white: float) -> None:
    """The slow judge, who knows the definition alone, forbids the same cells."""
    board = scatter(Variant(RENJU, width, height), seed, black, white)
    expected = oracle.forbidden_points(oracle.Position.of(board))
    assert forbidden_cells(board) == {column + row * width for column, row in expected}


@pytest.mark.parametrize("size", [6, 9, 15, 19])
@settings(max_examples=25)
@given(st.integers(), st.sampled_from([0.1, 0.15, 0.2, 0.3]), st.sampled_from([0.03, 0.1, 0.2]))
def test_other_implementation(size: int, seed: int, black: float, white: float) -> None:
    """The package `renju`, which goes back to the Gomocup's judge, finds the same fouls.

    Its board has columns first. It is asked of positions without a five, as they are in games.
    """
    board = scatter(Variant(RENJU, size, size), seed, black, white)
    if has_won(board, Color.BLACK):
        return
    stones = [[int(board.stone(x + y * size) or 0) for y in range(size)] for x in range(size)]
    for cell in empty_cells(board):
        theirs = get_foul_type(stones, cell % size, cell // size)
        assert foul_at(board, cell) is FOULS[theirs], f"{board}\n{cell}"


THREES = "f8 g8 h9 h10"
"""With h8 they are two threes."""


@pytest.mark.parametrize(
    ("black", "white", "cell", "foul"),
    [
        pytest.param(THREES, "", "h8", Foul.DOUBLE_THREE, id="two threes"),
        pytest.param(THREES, "e8", "h8", None, id="a three that is blocked"),
        pytest.param(THREES + " f9 f10", "", "h8", Foul.DOUBLE_THREE, id="and a pair beside"),
        pytest.param("c8 d8 e8 g8 h8", "", "f8", Foul.OVERLINE, id="six in a row"),
        pytest.param("c8 d8 e8 g8 h8 f9 f10 f11 f12", "", "f8", None, id="six, and a five"),
        pytest.param(THREES + " g7 i9 j10 k11", "", "h8", None, id="two threes, and a five"),
        pytest.param("e8 f8 g8 h9 h10 h11", "d8 h12", "h8", Foul.DOUBLE_FOUR, id="two fours"),
        pytest.param("d8 f8 h8 j8", "", "g8", Foul.DOUBLE_FOUR, id="in one line, of one each"),
        pytest.param("c8 d8 f8 i8 j8", "", "g8", Foul.DOUBLE_FOUR, id="in one line, of two each"),
        pytest.param("c8 d8 e8 i8 j8 k8", "", "g8", Foul.DOUBLE_FOUR, id="in one line, of three"),
        pytest.param("d8 f8 h8 j8 k8", "", "g8", None, id="the second would be six"),
        pytest.param("d8 e8 f8", "", "g8", None, id="a straight four is one"),
        pytest.param("c8 e8 f8 g8", "", "h8", None, id="a straight four but for a six"),
        pytest.param(THREES + " h13", "", "h8", Foul.DOUBLE_THREE, id="a six at one end"),
        pytest.param(THREES + " h13 h5", "", "h8", None, id="a six at either end"),
        pytest.param(
            THREES + " e11 f11 g11 i11 j11 e7 f7 g7 i7 j7",
            "",
            "h8",
            None,
            id="a three whose next stones are both six in a row",
        ),
        pytest.param(
            THREES + " e11 f11 g11 i11 e7 f7 g7 i7",
            "d11 d7 j11 j7",
            "h8",
            None,
            id="a three whose next stones both make a five",
        ),
        pytest.param(
            THREES + " e11 f11 g11 i11 j11",
            "",
            "h8",
            Foul.DOUBLE_THREE,
            id="a three with one next stone that is allowed",
        ),
        pytest.param(
            THREES + " f11 g11 j11 i12 j13 e7 f7 i7",
            "h6",
            "h8",
            None,
            id="a three whose next stone makes two fours",
        ),
    ],
)
def test_fouls(black: str, white: str, cell: str, foul: Foul | None) -> None:
    """Fouls and what looks like them, each of which the slow judge confirms."""
    board = place(cells_of(black), cells_of(white), RENJU_15)
    at = parse_cell(cell, RENJU_15)
    point = at % 15, at // 15
    assert oracle.is_foul(oracle.Position.of(board), point) is (foul is not None)
    assert foul_at(board, at) is foul
    assert RENJU.foul(board, at) == ("" if foul is None else foul.value)


def test_nothing_is_forbidden_to_white() -> None:
    """White may make threes and fours as he likes, and wins with six in a row."""
    board = place((), cells_of(THREES), RENJU_15)
    assert not RENJU.forbids(board, parse_cell("h8", RENJU_15), Color.WHITE)
    assert has_won(place((), range(6), RENJU_15), Color.WHITE)


def test_stones_are_left_as_they_are() -> None:
    """Judging places stones on a copy: a board that others read is not touched."""
    board = place(cells_of(THREES), (), RENJU_15)
    before = board.stones[:]
    assert forbidden_cells(board)
    assert board.stones == before

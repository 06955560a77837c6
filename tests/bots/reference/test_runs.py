"""The worth of runs."""

import pytest

from meijin.bots.reference.runs import (
    WIN,
    board_worth,
    cell_worth,
    promise,
    run_worth,
)
from meijin.game import GOMOKU, TIC_TAC_TOE, Board, Color, parse_cell


def worth(rows: str, name: str, color: Color) -> float:
    """What the cell called `name` is worth to a colour, with `rows` on top of the board."""
    return cell_worth(Board.parse(rows), parse_cell(name, GOMOKU), color)


@pytest.mark.parametrize(
    ("count", "ends", "expected"),
    [(1, 2, 1), (3, 2, 9), (3, 1, 2.25), (4, 1, 4), (4, 0, 0), (5, 0, WIN), (6, 2, WIN)],
)
def test_run_worth(count: int, ends: int, expected: float) -> None:
    """The square, a quarter of it with one end blocked, nothing with both; five is the most."""
    assert run_worth(count, ends) == expected


@pytest.mark.parametrize(
    ("rows", "name", "expected"),
    [
        ("..xx...", "e15", 9),
        (".oxx...", "e15", 2.25),
        ("xx.....", "c15", 2.25),
        (".oxx.o.", "e15", 0),
        ("..x.x..", "d15", 9),
        ("oxxxx..", "f15", WIN),
        ("..xx...", "f15", 0),
        ("..x....", "h8", 0),
        ("x../.x.", "c13", 2.25),
        (".x./...", "b14", 1),
    ],
)
def test_cell_worth(rows: str, name: str, expected: float) -> None:
    """The run that a stone would make, ends and edges looked at; far away it makes none."""
    assert worth(rows, name, Color.BLACK) == expected


def test_directions_add_up() -> None:
    """A cell at the end of two runs has the worth of both."""
    assert worth("..xx.../......./.....x./.....x.", "e15", Color.BLACK) == 9
    assert worth("...x.../..xx.../......./.......", "d13", Color.BLACK) == 2.25 + 4


def test_promise_is_the_same_for_both_sides() -> None:
    """A cell's promise is the sum of its worths."""
    board = Board.parse("x....../.x...../......./.....o./.....o./.....o.")
    cell = parse_cell("c13", GOMOKU)
    other = parse_cell("f9", GOMOKU)
    assert promise(board, cell) == 2.25
    assert promise(board, other) == 16


def test_worth_of_a_board() -> None:
    """Each run counts once, black's for it and white's against it."""
    board = Board.parse("......./..xx.../......./......./.o.....")
    lone = 1 * 3  # three directions in which a stone of the pair has no neighbour
    assert board_worth(board) == 4 + 2 * lone - 4
    assert board_worth(Board()) == 0


def test_win_is_worth_the_most() -> None:
    """The earlier the better."""
    early = Board.from_moves([0, 15, 1, 16, 2, 17, 3, 18, 4])
    late = Board.from_moves([0, 15, 1, 16, 2, 17, 3, 18, 100, 101, 4])
    assert early.winner is late.winner is Color.BLACK
    assert board_worth(early) > board_worth(late) > WIN / 2
    white = Board.from_moves([100, 0, 15, 1, 17, 2, 19, 3, 21, 4])
    assert board_worth(white) < -WIN / 2


def test_shorter_lines() -> None:
    """On other boards the line is the variant's."""
    board = Board.parse("xx./...", TIC_TAC_TOE)
    assert cell_worth(board, 2, Color.BLACK) == WIN

"""Winning lines: the stones that have won, under every rule."""

import random

import pytest

from meijin.game import Board, Variant, cell_name, parse_cell, winning_line


def names(board: Board) -> str:
    return " ".join(cell_name(cell, board.variant) for cell in winning_line(board))


@pytest.mark.parametrize(
    ("variant", "moves", "expected"),
    [
        ("15x15", "a1 a2 b1 b2 c1 c2 d1 d2 e1", "a1 b1 c1 d1 e1"),
        ("15x15", "a1 o1 b2 o2 c3 o4 d4 o5 e5", "e5 d4 c3 b2 a1"),
        ("15x15", "a1 o1 b2 o2 c3 o4 d4 o5", ""),
        ("15x15", "a1 o1 b1 o2 c1 o4 e1 o5 f1 o7 d1", "a1 b1 c1 d1 e1 f1"),  # six in freestyle
        ("3x3, 3 in a row", "a1 a3 b2 b3 c1 c3", "a3 b3 c3"),
        # Six do not win under the standard rule, the five across does.
        (
            "standard 15x15",
            "a1 o1 b1 o2 c1 o4 e1 o5 f1 o7 d2 o8 d3 o10 d4 o11 d5 o13 d1",
            "d5 d4 d3 d2 d1",
        ),
        # Two fives by one stone.
        (
            "15x15",
            "h1 o1 h2 o2 h3 o4 h4 o5 d5 o7 e5 o8 f5 o10 g5 o11 h5",
            "d5 e5 f5 g5 h5 h4 h3 h2 h1",
        ),
    ],
)
def test_the_stones_of_the_line(variant: str, moves: str, expected: str) -> None:
    """The line through the last stone, and both of them where it made two."""
    kind = Variant.parse(variant)
    cells = [parse_cell(word, kind) for word in moves.split()]
    assert names(Board.from_moves(cells, kind)) == expected


@pytest.mark.parametrize(
    "variant", ["15x15", "standard 9x9", "renju 15x15", "caro 9x9", "caro-exact 9x9"]
)
def test_there_is_a_line_just_where_somebody_has_won(variant: str) -> None:
    """Random games: the winner's own stones, the last one among them; else none."""
    kind = Variant.parse(variant)
    rng = random.Random(1)
    for _ in range(30):
        board = Board(kind)
        while not board.is_over:
            assert not winning_line(board)
            board.play(rng.choice(board.legal_cells()))
        line = winning_line(board)
        assert {board.stone(cell) for cell in line} == ({board.winner} if board.winner else set())
        assert not line or (board.moves[-1] in line and len(line) >= kind.line)

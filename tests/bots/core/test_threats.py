"""Wins by fours, against brute force."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

import pytest
from tests.bots.conftest import cells
from tests.bots.core.conftest import Core

from meijin.bots.core.threats import (
    add_forced_replies,
    find_vcf,
    immediate_win_cell,
    immediate_win_plies,
)
from meijin.game import (
    FREESTYLE,
    GOMOKU,
    STANDARD,
    Board,
    Color,
    IllegalMoveError,
    Rule,
    Variant,
    cell_name,
)


class Brute:
    """Looks for wins by fours by trying every cell, by the rules."""

    def __init__(self) -> None:
        self._known: dict[tuple[bytes, Color], bool] = {}

    def winning(self, board: Board, side: Color) -> list[int]:
        """The empty cells where `side` makes a winning line."""
        found = []
        for cell in empty_cells(board):
            with placed(board, cell, side):
                if board.variant.rule.wins(board, cell):
                    found.append(cell)
        return found

    def has_vcf(self, board: Board, side: Color) -> bool:
        """Whether `side`, to move, wins by making fours until it makes a five."""
        key = bytes(board.stones), side
        if key not in self._known:
            self._known[key] = self._find(board, side)
        return self._known[key]

    def _find(self, board: Board, side: Color) -> bool:
        if self.winning(board, side):
            return True
        blocks = self.winning(board, side.other)
        if len(blocks) > 1:
            return False
        return any(self._wins_by(board, cell, side) for cell in blocks or empty_cells(board))

    def _wins_by(self, board: Board, cell: int, side: Color) -> bool:
        with placed(board, cell, side):
            replies = self.winning(board, side)
            if len(replies) != 1:
                return len(replies) > 1
            with placed(board, replies[0], side.other):
                return self.has_vcf(board, side)


def empty_cells(board: Board) -> list[int]:
    return [cell for cell in range(board.variant.cells) if board.stone(cell) is None]


@contextmanager
def placed(board: Board, cell: int, side: Color) -> Iterator[None]:
    """A stone for a while, whoever is to move."""
    at = board.grid.index[cell]
    board.stones[at] = side
    yield
    board.stones[at] = 0


def random_position(variant: Variant, rng: Random) -> Board:
    """A position without a winner, whose stones lie close together."""
    while True:
        try:
            return Board.from_moves(
                rng.sample(range(variant.cells), rng.randrange(12, 24)), variant
            )
        except IllegalMoveError:
            continue


@pytest.mark.parametrize("rule", [FREESTYLE, STANDARD])
def test_vcf_is_found_where_there_is_one(rule: Rule) -> None:
    """Brute force finds a win by fours where the core does, and nowhere else."""
    variant = Variant(rule, 7, 7)
    rng, brute = Random(8), Brute()
    found = 0
    for _ in range(120):
        board = random_position(variant, rng)
        position = Core(variant, board.moves)
        state, side = position.state, board.side_to_move
        plies = find_vcf(state, position.tables, 1 << 40)
        if not brute.winning(board, side):  # a five is no matter for a look for fours
            expected = brute.has_vcf(board, side)
            assert bool(plies) == expected, str(board)
            found += expected
        if plies:
            assert_forced(board, [int(cell) for cell in state.vcf_line[: state.vcf_length]], brute)
    assert found >= 10


def assert_forced(board: Board, line: list[int], brute: Brute) -> None:
    """Play a line out: each of the loser's moves is the one that stops a five."""
    side = board.side_to_move
    for number, cell in enumerate(line):
        if number % 2:
            assert brute.winning(board, side) == [cell]
            assert not brute.winning(board, side.other)
        board.play(cell)
    if board.winner is None:
        assert len(brute.winning(board, side)) > 1
    else:
        assert board.winner is side


def test_limit() -> None:
    """A limit ends the look without a win."""
    variant = Variant(FREESTYLE, 7, 7)
    rng = Random(2)
    for _ in range(50):
        position = Core(variant, random_position(variant, rng).moves)
        find_vcf(position.state, position.tables, 3)
        assert position.state.vcf_nodes <= 4


@pytest.mark.parametrize(
    ("names", "plies", "winning"),
    [
        ("h8 a1 i8 c1 j8 e1 k8 g1", 1, {"g8", "l8"}),
        ("h8 a1 i8 c1 j8 e1", 3, {"g8", "k8"}),
        ("h8 a1 i8 b1 j8 c1 a8 d1", 0, set()),
        ("h8 a1 i8 c1", 0, set()),
    ],
    ids=["five", "open four", "the other side is faster", "nothing"],
)
def test_wins_at_hand(names: str, plies: int, winning: set[str]) -> None:
    """A five comes before an open four, which must not come after the other side's five."""
    position = Core(GOMOKU, cells(names))
    assert immediate_win_plies(position.state) == plies
    if plies:
        cell = immediate_win_cell(position.state, position.tables, plies)
        assert cell_name(cell, GOMOKU) in winning


@pytest.mark.parametrize(
    ("names", "replies"),
    [
        ("h8 a1 i8 c1 j8 g8 k8", {"l8"}),
        ("h8 a1 i8 c1 j8", {"f8", "g8", "k8", "l8"}),
        ("h8 a1 i8 b1 j8 c1 a8", {"f8", "g8", "k8", "l8", "d1", "e1"}),
        ("h8 i9", set()),
    ],
    ids=["four", "open three", "with fours of one's own", "nothing"],
)
def test_replies(names: str, replies: set[str]) -> None:
    """A four leaves one cell, an open three those of its fours and one's own fours."""
    position = Core(GOMOKU, cells(names))
    count = add_forced_replies(position.state, position.tables, 0)
    moves = {cell_name(int(cell), GOMOKU) for cell in position.state.moves[0, :count]}
    assert moves == replies

"""Wins by threats, against brute force."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from meijin.bots.core.vcf import find_vcf
from meijin.bots.core.vct import find_vct
from meijin.game import FREESTYLE, RENJU, STANDARD, Board, Color, IllegalMoveError, Rule, Variant

if TYPE_CHECKING:
    from tests.bots.core.conftest import Core

Stones = tuple[int, ...]
DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))


class Brute:
    """Looks for wins by fours by trying every cell."""

    def __init__(self, variant: Variant) -> None:
        self._variant = variant
        self._known: dict[tuple[Stones, int], bool] = {}

    def wins(self, stones: Stones, cell: int, side: int) -> bool:
        """Whether a stone of `side` on an empty cell makes a winning line."""
        width, height = self._variant.width, self._variant.height
        for rows, columns in DIRECTIONS:
            run = 1
            for sign in (1, -1):
                row, column = cell // width + sign * rows, cell % width + sign * columns
                while (
                    0 <= row < height
                    and 0 <= column < width
                    and stones[row * width + column] == side
                ):
                    run += 1
                    row, column = row + sign * rows, column + sign * columns
            if run == 5 or (run > 5 and self._variant.rule is FREESTYLE):
                return True
        return False

    def winning(self, stones: Stones, side: int) -> list[int]:
        """The empty cells where `side` makes a winning line."""
        return [
            cell for cell, stone in enumerate(stones) if not stone and self.wins(stones, cell, side)
        ]

    def has_vcf(self, stones: Stones, side: int) -> bool:
        """Whether `side`, to move, wins by making fours until it makes a five."""
        key = (stones, side)
        if key not in self._known:
            self._known[key] = self._find(stones, side)
        return self._known[key]

    def _find(self, stones: Stones, side: int) -> bool:
        if self.winning(stones, side):
            return True
        blocks = self.winning(stones, 3 - side)
        if len(blocks) > 1:
            return False
        for cell in blocks or [cell for cell, stone in enumerate(stones) if not stone]:
            after = (*stones[:cell], side, *stones[cell + 1 :])
            replies = self.winning(after, side)
            if len(replies) > 1:
                return True
            for reply in replies:
                answered = (*after[:reply], 3 - side, *after[reply + 1 :])
                if self.has_vcf(answered, side):
                    return True
        return False


def random_position(variant: Variant, rng: Random, stones: tuple[int, int] = (12, 24)) -> Board:
    """A position without a winner, whose stones lie close together."""
    while True:
        count = rng.randrange(*stones)
        try:
            return Board.from_moves(rng.sample(range(variant.cells), count), variant)
        except IllegalMoveError:
            continue


@pytest.mark.parametrize("rule", [FREESTYLE, STANDARD])
def test_vcf_is_found_where_there_is_one(rule: Rule, core: type[Core]) -> None:
    """Brute force finds a win by fours where the core does, and nowhere else."""
    variant = Variant(rule, 7, 7)
    rng, brute = Random(8), Brute(variant)
    found = 0
    for _ in range(120):
        board = random_position(variant, rng)
        position = core(variant, board.moves)
        plies = find_vcf(position.state, position.tables, 1 << 40)
        stones = tuple(int(stone) for stone in position.state.stones[: variant.cells])
        side = int(board.side_to_move)
        expected = brute.has_vcf(stones, side)
        if not brute.winning(stones, side):  # a five is no matter for a look for fours
            assert bool(plies) == expected, str(board)
            found += expected
        if plies:
            assert_forced(board, [int(c) for c in line_of(position)], brute)
    assert found >= 10


def line_of(position: Core) -> list[int]:
    """The line of the last VCF."""
    return list(position.state.vcf_line[: position.state.vcf_length])


def assert_forced(board: Board, line: list[int], brute: Brute) -> None:
    """Play a line out: each of the loser's moves is the one that stops a five."""
    side = board.side_to_move
    for number, cell in enumerate(line):
        stones = tuple(int(board.stone(at) or 0) for at in range(board.variant.cells))
        if number % 2:
            assert brute.winning(stones, side) == [cell]
            assert not brute.winning(stones, side.other)
        board.play(cell)
    if board.winner is None:
        stones = tuple(int(board.stone(at) or 0) for at in range(board.variant.cells))
        assert len(brute.winning(stones, side)) > 1
    else:
        assert board.winner is side
    assert side in (Color.BLACK, Color.WHITE)


def test_limit(core: type[Core]) -> None:
    """A limit ends the look without a win."""
    variant = Variant(FREESTYLE, 7, 7)
    rng = Random(2)
    for _ in range(50):
        position = core(variant, random_position(variant, rng).moves)
        find_vcf(position.state, position.tables, 3)
        assert position.state.vcf_nodes <= 4


class VctCheck:
    """Follows the core's wins by threats against every reply on the board."""

    def __init__(self, core: type[Core]) -> None:
        self._core = core
        self._known: dict[tuple[frozenset[int], frozenset[int]], bool] = {}

    def holds(self, board: Board) -> bool:
        """Whether the side to move wins by the core's own moves, whatever is replied."""
        key = frozenset(board.moves[::2]), frozenset(board.moves[1::2])
        if key not in self._known:
            self._known[key] = self._follow(board)
        return self._known[key]

    def _follow(self, board: Board) -> bool:
        position = self._core(board.variant, board.moves)
        if not find_vct(position.state, position.tables, 3, 1 << 40):
            return False
        side = board.side_to_move
        board.play(int(position.state.vct_lines[0, 0]))
        won = board.winner is side or all(
            self._answers(board, cell) for cell in board.legal_cells()
        )
        board.undo()
        return won

    def _answers(self, board: Board, cell: int) -> bool:
        board.play(cell)
        won = board.winner is None and self.holds(board)
        board.undo()
        return won


@pytest.mark.parametrize("rule", [FREESTYLE, STANDARD, RENJU])
def test_vct_beats_every_reply(rule: Rule, core: type[Core]) -> None:
    """A win by threats stands against all replies, not just those that it has looked at."""
    variant = Variant(rule, 7, 7)
    rng, check = Random(11), VctCheck(core)
    found = 0
    while found < (3 if rule is RENJU else 8):  # the judge of fouls takes its time
        board = random_position(variant, rng, (10, 18))
        position = core(variant, board.moves)
        state, tables = position.state, position.tables
        if find_vcf(state, tables, 1 << 40) or not 5 <= find_vct(state, tables, 2, 20_000) <= 7:
            continue
        found += 1
        assert check.holds(board), str(board)

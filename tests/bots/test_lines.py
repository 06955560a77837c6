"""A position seen as lines, compared with the rules of the board."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meijin.bots.lines import Lines, worth_by_count
from meijin.game import FREESTYLE, GOMOKU, STANDARD, TIC_TAC_TOE, Board, Color, Rule, Variant

VARIANTS = (
    TIC_TAC_TOE,
    Variant(width=5, height=4, line=4),
    Variant(width=7, height=7),
    Variant(rule=STANDARD, width=7, height=7),
    Variant(rule=STANDARD, width=5, height=5, line=3),
)
BLACK, WHITE = int(Color.BLACK), int(Color.WHITE)


def wins_of(board: Board) -> list[int]:
    """The cells on which the side to move wins at once, by the rules."""
    cells = []
    for cell in board.legal_cells():
        board.play(cell)
        if board.winner is not None:
            cells.append(cell)
        board.undo()
    return cells


def state_of(lines: Lines) -> tuple[object, ...]:
    """All that changes in them."""
    counts = tuple(map(bytes, lines._counts))
    return bytes(lines.stones), counts, lines.empty, lines.balance


@settings(max_examples=60, deadline=None)
@given(variant=st.sampled_from(VARIANTS), seed=st.integers(0, 2**32))
def test_completing_agrees_with_the_rules(variant: Variant, seed: int) -> None:
    """In a random game, at each ply, the winning cells are those of the board."""
    rng = Random(seed)
    board = Board(variant)
    lines = Lines(board)
    while not board.is_over:
        side = board.side_to_move
        assert sorted(set(lines.completing(side))) == wins_of(board)
        cell = rng.choice(board.legal_cells())
        board.play(cell)
        lines.place(cell, side)


@settings(max_examples=60, deadline=None)
@given(variant=st.sampled_from(VARIANTS), seed=st.integers(0, 2**32))
def test_remove_takes_back_what_place_did(variant: Variant, seed: int) -> None:
    """Stones taken away in any order leave the lines as they were before."""
    rng = Random(seed)
    cells = rng.sample(range(variant.cells), variant.cells // 2)
    stones = [(cell, rng.choice((BLACK, WHITE))) for cell in cells]
    lines = Lines(Board(variant))
    before = state_of(lines)
    for cell, side in stones:
        lines.place(cell, side)
    rng.shuffle(stones)
    for cell, side in stones:
        lines.remove(cell, side)
    assert state_of(lines) == before


def test_lines_of_a_board() -> None:
    """Lines of a board count the stones that stand there, even those set up."""
    lines = Lines(Board.parse("xxo/.x.", TIC_TAC_TOE))
    assert bytes(lines.stones) == bytes([1, 1, 2, 0, 1, 0, 0, 0, 0])
    assert sorted(lines.completing(BLACK)) == [7, 8]
    assert lines.completing(WHITE) == []
    assert lines.empty == 5


def test_copy_is_independent() -> None:
    """A stone on the copy leaves the original alone."""
    lines = Lines(Board.from_moves([112], GOMOKU))
    before = state_of(lines)
    twin = lines.copy()
    assert state_of(twin) == before
    twin.place(113, WHITE)
    assert state_of(lines) == before != state_of(twin)


def test_balance_is_fair() -> None:
    """The balance is nothing at the start, and turns its sign with the colours."""
    black, white = Lines(Board()), Lines(Board())
    assert black.balance == 0
    for cell in (112, 113, 127):
        black.place(cell, BLACK)
        white.place(cell, WHITE)
    assert black.balance == -white.balance > 0


@pytest.mark.parametrize("line", [3, 5, 22])
def test_worth_grows(line: int) -> None:
    """A stone more on a line is never worth less, and near the end much more."""
    worth = worth_by_count(line)
    assert len(worth) == line + 1
    assert list(worth) == sorted(worth)
    assert worth[-1] == 6 * worth[-2]


def test_promising_begins_in_the_centre() -> None:
    """On an empty board there is one cell to try."""
    assert Lines(Board()).promising(9) == [112]


def test_promising_prefers_the_end_of_a_row() -> None:
    """The most valuable cells come first, whoever's they are."""
    for color in (Color.BLACK, Color.WHITE):
        lines = Lines(Board())
        for cell in (110, 111, 112):
            lines.place(cell, color)
        assert set(lines.promising(2)) == {109, 113}


def test_promising_where_all_near_cells_are_full() -> None:
    """Far cells are tried when there are no others."""
    lines = Lines(Board(Variant(width=22, height=3, line=3)))
    for cell in range(66):
        if cell % 22 < 2:
            lines.place(cell, BLACK)
    lines.place(2, WHITE)
    for cell in (24, 46, 3, 25, 47, 4, 26, 48):
        lines.place(cell, WHITE)
    near = {cell for cell in range(66) if cell % 22 in (5, 6)}
    assert set(lines.promising(66)) == near


@pytest.mark.parametrize(("rule", "wins"), [(FREESTYLE, [3]), (STANDARD, [])])
def test_overline(rule: Rule, wins: list[int]) -> None:
    """A gap that makes six wins under freestyle alone."""
    variant = Variant(rule=rule, width=7, height=7)
    lines = Lines(Board(variant))
    for cell in (0, 1, 2, 4, 5):
        lines.place(cell, BLACK)
    assert sorted(set(lines.completing(BLACK))) == wins

"""Alpha-beta of the search core."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from tests.bots.conftest import cells
from tests.bots.core.conftest import Core

from meijin.bots.core.network import evaluate
from meijin.bots.core.search import (
    FEW_REPLIES,
    depth_cost,
    is_quiescent,
    iterative_deepening,
    late_move_reduction,
    move_count_limit,
)
from meijin.bots.core.state import make, undo
from meijin.bots.core.transposition import new_table
from meijin.game import FREESTYLE, GOMOKU, STANDARD, Board, Rule, Variant
from meijin.game.records.chances import WIN_SCORE


def near(board: Board) -> list[int]:
    """The empty cells two steps from a stone in any direction, or three along a line."""
    width = board.variant.width
    stones = [divmod(cell, width) for cell in board.moves]
    cells = []
    for cell in board.legal_cells():
        row, column = divmod(cell, width)
        for other in stones:
            rows, columns = abs(row - other[0]), abs(column - other[1])
            far = max(rows, columns)
            if far <= 2 or (far == 3 and {rows, columns} <= {0, 3}):
                cells.append(cell)
                break
    return cells or board.legal_cells()


def minimax(core: Core, board: Board, depth: int, ply: int) -> int:
    """Score a position by looking at everything, with the core's evaluation at the leaves."""
    for cell in board.legal_cells():
        board.play(cell)
        won = board.winner is not None
        board.undo()
        if won:
            return WIN_SCORE - ply - 1
    if board.is_full:
        return 0
    if depth == 0:
        return int(evaluate(core.state, core.tables))
    best = -WIN_SCORE
    for cell in near(board):
        board.play(cell)
        make(core.state, core.tables, cell)
        best = max(best, -minimax(core, board, depth - 1, ply + 1))
        undo(core.state, core.tables)
        board.undo()
    return best


def deepen_to(core: Core, depth: int) -> np.record:
    core.state.plain = 1
    core.state.node_limit = 1 << 40
    iterative_deepening(core.state, core.tables, new_table(4), depth)
    return core.state


@pytest.mark.parametrize("rule", [FREESTYLE, STANDARD])
@pytest.mark.parametrize("seed", range(6))
def test_plain_equals_minimax(rule: Rule, seed: int) -> None:
    """With all else off, alpha-beta finds minimax's score at each depth."""
    rng = Random(seed)
    variant = Variant(rule, *rng.choice([(5, 5), (5, 6), (6, 6)]))
    board = Board(variant)
    for cell in rng.sample(range(variant.cells), variant.cells // 2 + seed):
        if not board.is_over:
            board.play(cell)
    if board.is_over:
        board.undo()
    for depth in (1, 2, 3):
        state = deepen_to(Core(variant, board.moves), depth)
        expected = minimax(Core(variant, board.moves), board, min(depth, int(state.best_depth)), 0)
        assert state.best_score == expected


QUIET, THREE, FOUR = "h8 i9", "h8 a1 i8 c1 j8", "h8 a1 i8 c1 j8 g8 k8"


def after(names: str) -> Core:
    """A position of an engine that leaves nothing out."""
    position = Core(GOMOKU, cells(names))
    position.state.width = 24
    position.state.use_reductions = 1
    return position


def test_width() -> None:
    """More moves are tried with more depth left, fewer where things got worse."""
    state = after(QUIET).state
    widths = [move_count_limit(state, depth, 0, 0) for depth in range(1, 8)]
    assert widths == sorted(widths)
    assert widths[0] < widths[-1] == 24
    assert move_count_limit(state, 2, 0, 1) < move_count_limit(state, 2, 0, 0)
    assert move_count_limit(state, 1, 1, 0) == 24


@pytest.mark.parametrize(
    ("names", "depth", "calm"),
    [
        (QUIET, 0, 1),
        (THREE, 0, 0),
        (THREE, -1, 1),
        (FOUR, 0, 0),
        (FOUR, -1, 0),
    ],
)
def test_calm(names: str, depth: int, calm: int) -> None:
    """A four is always answered before a position is valued, an open three once."""
    assert is_quiescent(after(names).state, depth) == calm


@pytest.mark.parametrize(
    ("names", "move", "count", "plies"),
    [
        (QUIET, "j10", 50, 1),
        (THREE, "g8", 4, 0),
        (THREE, "g8", FEW_REPLIES + 1, 1),
        (FOUR, "l8", 1, 0),
        ("h8 a1 i8 b1 j8 c1 a8", "d1", 6, 1),
    ],
)
def test_price(names: str, move: str, count: int, plies: int) -> None:
    """A reply costs no depth where there are few; a four in between does."""
    position = after(names)
    (cell,) = cells(move)
    assert depth_cost(position.state, position.tables, cell, count) == plies


def test_reduction() -> None:
    """Late and quiet moves are searched less deep, but two plies are left to them."""
    position = after(QUIET)
    (cell,) = cells("k5")
    plies = [
        late_move_reduction(position.state, position.tables, cell, 9, n, 0) for n in (0, 1, 5, 20)
    ]
    assert plies[:2] == [0, 0]
    assert 0 < plies[2] < plies[3] <= 7
    assert late_move_reduction(position.state, position.tables, cell, 3, 60, 5) == 1
    three = after("h8 a1 i8 c1")
    (extends,) = cells("j8")
    assert late_move_reduction(three.state, three.tables, extends, 9, 20, 0) == 0

"""Alpha-beta of the search core."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from meijin.bots.core.evaluate import WIN_SCORE, evaluate
from meijin.bots.core.search import iterative_deepening
from meijin.bots.core.state import make, undo
from meijin.bots.core.transposition import new_table
from meijin.game import FREESTYLE, STANDARD, Board, Rule, Variant

if TYPE_CHECKING:
    from tests.bots.core.conftest import Core


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
    """Search to a depth with bare alpha-beta."""
    core.state.plain = 1
    core.state.node_limit = 1 << 40
    iterative_deepening(core.state, core.tables, new_table(4), depth)
    return core.state


@pytest.mark.parametrize("rule", [FREESTYLE, STANDARD])
@pytest.mark.parametrize("seed", range(6))
def test_plain_equals_minimax(rule: Rule, seed: int, core: type[Core]) -> None:
    """With all else off, alpha-beta finds minimax's score at each depth."""
    rng = Random(seed)
    variant = Variant(rule, *rng.choice([(5, 5), (5, 6), (6, 6)]))
    board = Board(variant)
    cells = rng.sample(range(variant.cells), variant.cells // 2 + seed)
    while cells and not board.is_over:
        board.play(cells.pop())
    if board.is_over:
        board.undo()
    for depth in (1, 2, 3):
        state = deepen_to(core(variant, board.moves), depth)
        expected = minimax(core(variant, board.moves), board, min(depth, int(state.best_depth)), 0)
        assert state.best_score == expected

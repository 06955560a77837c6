"""Monte-Carlo tree search by UCT, with a new tree for each move."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from meijin.bots.core.playout import new_board, set_up, take_cell
from meijin.bots.core.tree_result import Clock, TreeLimits, TreeResult
from meijin.bots.core.uct import new_tree, run_simulations
from meijin.game import Board, Variant

CAPACITY = 1 << 19
"""Nodes, 48 bytes each."""
CHUNK = 256
"""Playouts between two looks at the clock: a millisecond or two."""


class PureTree:
    """Searches one position after the other, without any knowledge of the game."""

    def __init__(self, variant: Variant, seed: int = 1, *, clock: Clock = time.monotonic) -> None:
        self._variant = variant
        self._clock = clock
        self._board = new_board(variant, seed)

    def search(self, moves: Sequence[int], limits: TreeLimits) -> TreeResult:
        """Find the move visited most; the game must not be over."""
        end = limits.end(self._clock())
        root = new_board(self._variant)
        set_up(root, moves)
        self._leave_fouls_out(root, moves)
        nodes, work = new_tree(CAPACITY)
        while (visits := int(nodes[0]["visits"])) < limits.visits:
            run_simulations(nodes, work, root, self._board, min(CHUNK, limits.visits - visits))
            if self._clock() >= end:
                break
        best = _best_child(nodes, 0)
        return TreeResult(
            cell=int(nodes[best]["cell"]),
            expected_score=float(nodes[best]["wins"] / nodes[best]["visits"]),
            visits=int(nodes[0]["visits"]),
            pv=_pv(nodes),
        )

    def _leave_fouls_out(self, root: np.record, moves: Sequence[int]) -> None:
        """Take the cells that are forbidden now out of the game, for both sides.

        Playouts know no fouls; what is forbidden later on is left to the searches to come.
        """
        if self._variant.rule.has_forbidden_cells:
            board = Board.from_moves(moves, self._variant)
            allowed = set(board.legal_cells())
            for cell in range(self._variant.cells):
                if board.stone(cell) is None and cell not in allowed:
                    take_cell(root, cell)


def _best_child(nodes: np.ndarray, node: int) -> int:
    """The child visited most, or -1."""
    best, child = -1, int(nodes[node]["first"])
    while child >= 0:
        if best < 0 or nodes[child]["visits"] > nodes[best]["visits"]:
            best = child
        child = int(nodes[child]["next"])
    return best


def _pv(nodes: np.ndarray) -> tuple[int, ...]:
    pv: list[int] = []
    node = _best_child(nodes, 0)
    while node >= 0:
        pv.append(int(nodes[node]["cell"]))
        node = _best_child(nodes, node)
    return tuple(pv)

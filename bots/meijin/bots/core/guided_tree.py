"""Monte-Carlo tree search by PUCT, with a tree that is kept between moves."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np

from meijin.bots.core.forced import immediate_win_cell, immediate_win_plies
from meijin.bots.core.jit import new_record
from meijin.bots.core.lookup import tables_of
from meijin.bots.core.proof import ROOT_VCF_NODES
from meijin.bots.core.puct import new_tree, run_simulations, take_subtree
from meijin.bots.core.state import LINE, STATE, init, make
from meijin.bots.core.tree_result import Clock, TreeLimits, TreeResult
from meijin.bots.core.vcf import find_vcf
from meijin.game import Variant

CAPACITY = 1 << 20
"""Nodes, 32 bytes each; there are two trees of them."""
CHUNK = 256
"""Visits between two looks at the clock: three milliseconds."""
LCB_WIDTH = 1.0
"""The lower confidence bound of a move visited n times is below its value by this / √n."""
MIN_VISITS = 2
"""Visits before the root has children."""


def lower_bound(nodes: np.ndarray, node: int) -> tuple[int, float]:
    """Whether a node is proven, and the lower confidence bound of its value."""
    proven, visits = int(nodes[node]["proven"]), int(nodes[node]["visits"])
    if not visits:
        return proven, -math.inf
    return proven, float(nodes[node]["total"] / visits - LCB_WIDTH / math.sqrt(visits))


class GuidedTree:
    """Searches one position after the other; those of one game share the tree."""

    def __init__(self, variant: Variant, *, clock: Clock = time.monotonic) -> None:
        self._tables = tables_of(variant)
        self._state = new_record(STATE)
        self._clock = clock
        self._nodes, self._work = new_tree(CAPACITY)
        self._spare, _ = new_tree(CAPACITY)
        self._moves: list[int] = []

    def search(self, moves: Sequence[int], limits: TreeLimits) -> TreeResult:
        """Find the move with the best lower bound, or one that wins; the game must not be over."""
        end = limits.end(self._clock())
        self._set_up(moves)
        if winning := self._forced_win():
            return TreeResult(cell=winning[0], expected_score=1.0, visits=0, pv=winning)
        nodes = self._nodes
        limit = max(limits.visits, MIN_VISITS)
        while (visits := int(nodes[0]["visits"])) < limit and not nodes[0]["proven"]:
            run_simulations(
                self._state, self._tables, nodes, self._work, min(CHUNK, limit - visits)
            )
            if self._clock() >= end:
                break
        best = self._best_child(0)
        return TreeResult(
            cell=int(nodes[best]["cell"]),
            expected_score=self._expected_score(best),
            visits=int(nodes[0]["visits"]),
            pv=self._pv(),
        )

    def _set_up(self, moves: Sequence[int]) -> None:
        """Bring the position to `moves`, and the tree to what is known of it."""
        init(self._state, self._tables)
        for cell in moves:
            make(self._state, self._tables, cell)
        node: int | None = None
        known = len(self._moves)
        if known and list(moves[:known]) == self._moves:
            node = self._descendant(moves[known:])
        if node is None:
            self._nodes[0] = 0
            self._nodes[0]["cell"] = -1
            self._work.used = 1
        elif node:
            take_subtree(self._nodes, self._spare, self._work, node)
            self._nodes, self._spare = self._spare, self._nodes
        self._moves = list(moves)

    def _descendant(self, moves: Sequence[int]) -> int | None:
        """The node that the moves lead to from the root, if the tree has it."""
        node = 0
        for cell in moves:
            found = [child for child in self._children(node) if self._nodes[child]["cell"] == cell]
            if not found:
                return None
            node = found[0]
        return node

    def _forced_win(self) -> tuple[int, ...]:
        """An immediate win or a VCF; nothing where there is none."""
        state = self._state
        if plies := immediate_win_plies(state):
            return (int(immediate_win_cell(state, self._tables, plies)),)
        if not find_vcf(state, self._tables, ROOT_VCF_NODES):
            return ()
        return tuple(int(cell) for cell in state.vcf_line[: min(state.vcf_length, LINE)])

    def _children(self, node: int) -> range:
        first = int(self._nodes[node]["first"])
        return range(first, first + int(self._nodes[node]["count"]))

    def _best_child(self, node: int) -> int:
        """The child that wins, or else the one with the best lower bound that may not lose."""
        return max(self._children(node), key=lambda child: lower_bound(self._nodes, child))

    def _expected_score(self, node: int) -> float:
        row = self._nodes[node]
        if row["proven"]:
            return float(row["proven"] > 0)
        return float(0.5 + 0.5 * row["total"] / max(int(row["visits"]), 1))

    def _pv(self) -> tuple[int, ...]:
        pv: list[int] = []
        node = 0
        while self._children(node) and len(pv) < LINE:
            node = self._best_child(node)
            if not self._nodes[node]["visits"]:
                break
            pv.append(int(self._nodes[node]["cell"]))
        return tuple(pv)

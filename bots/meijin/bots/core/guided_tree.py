"""Monte-Carlo tree search led by a network, with a tree that is kept between moves."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np

from meijin.bots.core.forced import cell_at_hand, plies_at_hand
from meijin.bots.core.guided import grow, new_tree, take_subtree
from meijin.bots.core.jit import new_record
from meijin.bots.core.lookup import tables_of
from meijin.bots.core.proof import ROOT_VCF_NODES
from meijin.bots.core.state import LINE, STATE, init, make
from meijin.bots.core.thought import Clock, Effort, Thought
from meijin.bots.core.threats import find_vcf
from meijin.game import Variant

CAPACITY = 1 << 20
"""Nodes, 32 bytes each; there are two trees of them."""
CHUNK = 256
"""Visits between two looks at the clock: three milliseconds."""
CAUTION = 1.0
"""A move visited n times may be worth less by this over the root of n: the best is chosen so."""
LEAST = 2
"""Visits before the root has children."""


def surety(nodes: np.ndarray, node: int) -> tuple[int, float]:
    """Whether a node is proven, and the least that it is likely to be worth."""
    proven, visits = int(nodes[node]["proven"]), int(nodes[node]["visits"])
    if not visits:
        return proven, -math.inf
    return proven, float(nodes[node]["total"] / visits - CAUTION / math.sqrt(visits))


class GuidedTree:
    """Searches one position after the other; those of one game share what was learnt."""

    def __init__(self, variant: Variant, *, clock: Clock = time.monotonic) -> None:
        self._tables = tables_of(variant)
        self._state = new_record(STATE)
        self._clock = clock
        self._nodes, self._work = new_tree(CAPACITY)
        self._spare, _ = new_tree(CAPACITY)
        self._moves: list[int] = []

    def think(self, moves: Sequence[int], effort: Effort) -> Thought:
        """Find the move that is surely best, or one that wins; the game must not be over."""
        end = self._clock() + effort.seconds
        self._set_up(moves)
        if winning := self._fours():
            return Thought(cell=winning[0], share=1.0, visits=0, line=winning)
        nodes = self._nodes
        limit = max(effort.visits, LEAST)
        while (visits := int(nodes[0]["visits"])) < limit and not nodes[0]["proven"]:
            grow(self._state, self._tables, nodes, self._work, min(CHUNK, limit - visits))
            if self._clock() >= end:
                break
        best = self._favourite(0)
        return Thought(
            cell=int(nodes[best]["cell"]),
            share=self._share(best),
            visits=int(nodes[0]["visits"]),
            line=self._line(),
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

    def _fours(self) -> tuple[int, ...]:
        """A win at hand, or a winning line of fours; nothing where there is none."""
        state = self._state
        if plies := plies_at_hand(state):
            return (int(cell_at_hand(state, self._tables, plies)),)
        if not find_vcf(state, self._tables, ROOT_VCF_NODES):
            return ()
        return tuple(int(cell) for cell in state.vcf_line[: min(state.vcf_length, LINE)])

    def _children(self, node: int) -> range:
        first = int(self._nodes[node]["first"])
        return range(first, first + int(self._nodes[node]["count"]))

    def _favourite(self, node: int) -> int:
        """The child that wins, or else the one surely worth most of those that may not lose."""
        return max(self._children(node), key=lambda child: surety(self._nodes, child))

    def _share(self, node: int) -> float:
        row = self._nodes[node]
        if row["proven"]:
            return float(row["proven"] > 0)
        return float(0.5 + 0.5 * row["total"] / max(int(row["visits"]), 1))

    def _line(self) -> tuple[int, ...]:
        line: list[int] = []
        node = 0
        while self._children(node) and len(line) < LINE:
            node = self._favourite(node)
            if not self._nodes[node]["visits"]:
                break
            line.append(int(self._nodes[node]["cell"]))
        return tuple(line)

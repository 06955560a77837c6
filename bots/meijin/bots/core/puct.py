"""PUCT: Monte-Carlo tree search with priors and values of a network, and proven results.

The choice among children is that of Rosin, "Multi-armed bandits with episode context"
(2011), as AlphaGo Zero uses it; proofs are backed up as in Winands and others,
"Monte-Carlo tree search solver" (2008).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np

from meijin.bots.core.jit import array_type, float64, int64, jit, new_record, record_type, void
from meijin.bots.core.limits import Clock, TreeLimits, TreeResult
from meijin.bots.core.lookup import CELLS, TABLES_TYPE, tables_of
from meijin.bots.core.movegen import add_candidates, pick_move
from meijin.bots.core.network import POINTS, POLICY_POINTS, evaluate, policy_score, sync
from meijin.bots.core.state import LINE, STATE, STATE_TYPE, init, make, undo
from meijin.bots.core.threats import (
    ROOT_VCF_NODES,
    add_forced_replies,
    find_vcf,
    immediate_win_cell,
    immediate_win_plies,
)
from meijin.game import Variant

EXPLORATION = 1.4
"""The constant of PUCT: how much the prior counts against the values found."""
WIDTH = 24
"""Children of a node, the most promising moves."""
FPU_REDUCTION = 0.05
"""First-play urgency: a child never visited counts as worse than its parent by as much."""
VCF_NODES = 100
"""Nodes of the VCF search in each new position."""
UNPROVEN_LOSS = -0.99
"""The value of a position all of whose tried moves lose, though others were left out."""

NODE = np.dtype(
    [
        ("total", np.float64),  # of the values for the side that played `cell`, -1 to 1
        ("prior", np.float32),
        ("visits", np.int32),
        ("first", np.int32),  # of its children, which stand side by side
        ("count", np.int16),  # children; none before its second visit
        ("cell", np.int16),  # of the stone that led here
        ("proven", np.int8),  # 1 if the side that played `cell` wins, -1 if it loses
        ("is_complete", np.int8),  # no move that is left out could help
    ],
    align=True,
)
"""A position of the tree, in 32 bytes: a second of thought makes a million of them."""
NODES_TYPE = array_type(NODE)

WORK = np.dtype(
    [
        ("used", np.int64),  # nodes of the tree
        ("path", np.int64, CELLS + 1),  # from the root to the node of this visit
    ],
    align=True,
)
WORK_TYPE = record_type(WORK)


def new_tree(capacity: int) -> tuple[np.ndarray, np.record]:
    """Make a tree of one node, the root, with room for `capacity`."""
    nodes = np.zeros(capacity, NODE)
    nodes[0]["cell"] = -1
    work = new_record(WORK)
    work.used = 1
    return nodes, work


@jit(int64(NODES_TYPE, int64))
def select_child(nodes: np.ndarray, node: int) -> int:
    """Select a child: a winning one, else the best bound of those not lost; -1 for none."""
    visits = nodes[node].visits
    spread = EXPLORATION * math.sqrt(np.float64(visits))
    own = -nodes[node].total / visits if visits > 0 else 0.0
    best, best_bound = -1, -1e9
    for child in range(nodes[node].first, nodes[node].first + nodes[node].count):
        proven = nodes[child].proven
        if proven > 0:
            return child
        if proven < 0:
            continue
        count = nodes[child].visits
        value = nodes[child].total / count if count > 0 else own - FPU_REDUCTION
        bound = value + spread * nodes[child].prior / (1 + count)
        if bound > best_bound:
            best, best_bound = child, bound
    return best


@jit(void(STATE_TYPE, NODES_TYPE, WORK_TYPE, int64, int64))
def _add_children(
    state: np.record, nodes: np.ndarray, work: np.record, node: int, count: int
) -> None:
    """Make the best of the moves children, with priors by their scores (a softmax)."""
    state.move_counts[0] = count
    kept = min(count, WIDTH)
    first = work.used
    total = 0.0
    for number in range(kept):
        child = first + number
        nodes[child].cell = pick_move(state, 0, number)
        ahead = state.scores[0, number] - state.scores[0, 0]
        prior = math.exp(ahead / POLICY_POINTS)
        total += prior
        nodes[child].prior = prior
        nodes[child].first = nodes[child].count = nodes[child].visits = 0
        nodes[child].proven = nodes[child].is_complete = 0
        nodes[child].total = 0.0
    for child in range(first, first + kept):
        nodes[child].prior /= total
    nodes[node].first, nodes[node].count = first, kept
    work.used = first + kept


@jit(void(STATE_TYPE, TABLES_TYPE, NODES_TYPE, WORK_TYPE, int64))
def expand(
    state: np.record, tables: np.record, nodes: np.ndarray, work: np.record, node: int
) -> None:
    """Expand a node by forced replies or by candidates, as long as there is room for its children."""
    if work.used + WIDTH > len(nodes) or state.empties == 0:
        return
    count = add_forced_replies(state, tables, 0)
    if count > 0:
        nodes[node].is_complete = 1
    else:
        count = add_candidates(state, tables, 0)
    sync(state, tables)
    for number in range(count):
        state.scores[0, number] = policy_score(state, tables, state.moves[0, number])
    _add_children(state, nodes, work, node, count)


@jit(float64(STATE_TYPE, TABLES_TYPE, NODES_TYPE, int64))
def leaf_value(state: np.record, tables: np.record, nodes: np.ndarray, node: int) -> float:
    if nodes[node].proven != 0:
        return -np.float64(nodes[node].proven)
    if nodes[node].count > 0:  # and all of them lose
        if nodes[node].is_complete:
            nodes[node].proven = 1
            return -1.0
        return UNPROVEN_LOSS
    if node != 0 and (immediate_win_plies(state) > 0 or find_vcf(state, tables, VCF_NODES) > 0):
        nodes[node].proven = -1
        return 1.0
    if state.empties == 0:
        return 0.0
    return math.tanh(evaluate(state, tables) / (2.0 * POINTS))


@jit(int64(STATE_TYPE, TABLES_TYPE, NODES_TYPE, WORK_TYPE))
def _select_leaf(state: np.record, tables: np.record, nodes: np.ndarray, work: np.record) -> int:
    """Select a leaf along the best bounds, and return the length of the path."""
    node, depth = 0, 0
    work.path[0] = 0
    while nodes[node].proven == 0 and nodes[node].visits > 0:
        if nodes[node].count == 0:
            expand(state, tables, nodes, work, node)
        child = select_child(nodes, node)
        if child < 0:
            break
        node = child
        depth += 1
        work.path[depth] = node
        make(state, tables, nodes[node].cell)
    return depth


@jit(void(STATE_TYPE, TABLES_TYPE, NODES_TYPE, WORK_TYPE, int64))
def run_simulations(
    state: np.record, tables: np.record, nodes: np.ndarray, work: np.record, visits: int
) -> None:
    """Run simulations, `visits` of them or until the root is proven; the position comes back."""
    for _ in range(visits):
        if nodes[0].proven != 0:
            return
        depth = _select_leaf(state, tables, nodes, work)
        value = -leaf_value(state, tables, nodes, work.path[depth])
        for at in range(depth, -1, -1):
            node = work.path[at]
            nodes[node].visits += 1
            nodes[node].total += value
            if at > 0:
                undo(state, tables)
                if nodes[node].proven > 0:
                    nodes[work.path[at - 1]].proven = -1
            value = -value


@jit(void(NODES_TYPE, NODES_TYPE, WORK_TYPE, int64))
def take_subtree(nodes: np.ndarray, target: np.ndarray, work: np.record, root: int) -> None:
    """Copy the tree below `root` into `target`, where it begins at 0."""
    target[0] = nodes[root]
    used = 1
    at = 0
    while at < used:
        first = target[at].first
        target[at].first = used
        for child in range(first, first + target[at].count):
            target[used] = nodes[child]
            used += 1
        at += 1
    work.used = used


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

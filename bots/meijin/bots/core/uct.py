"""UCT: Monte-Carlo tree search by UCB1, with uniformly random playouts.

The form is that of Kocsis and Szepesvari, "Bandit based Monte-Carlo planning" (2006):
a node for each position, a child for each legal move, unvisited children first.
"""

from __future__ import annotations

import math

import numpy as np

from meijin.bots.core.geometry import CELLS
from meijin.bots.core.jit import array_type, int64, jit, new_record, record_type, void
from meijin.bots.core.playout import (
    BOARD_TYPE,
    DRAW,
    copy_position,
    place_stone,
    play_out,
    random_below,
)

EXPLORATION = math.sqrt(2)
"""The C of UCB1: how much a move tried rarely is preferred to one that does well."""

NODE = np.dtype(
    [
        ("first", np.int64),  # child, the newest; -1 for none
        ("next", np.int64),  # sibling; -1 for none
        ("cell", np.int64),  # of the stone that led here
        ("tried", np.int64),  # children
        ("visits", np.int64),
        ("wins", np.float64),  # of the side that played `cell`; a draw is half of one
    ],
    align=True,
)
"""A position of the tree. Children are a linked list: most nodes never have one."""
NODES_TYPE = array_type(NODE)

WORK = np.dtype(
    [
        ("used", np.int64),  # nodes of the tree
        ("stamp", np.int64),  # of the last expansion
        ("stamps", np.int64, CELLS),  # the last expansion that found a cell tried
        ("path", np.int64, CELLS + 1),  # from the root to the node of this visit
    ],
    align=True,
)
WORK_TYPE = record_type(WORK)


def new_tree(capacity: int) -> tuple[np.ndarray, np.record]:
    """Make a tree of one node, the root, with room for `capacity`."""
    nodes = np.zeros(capacity, NODE)
    nodes["first"] = nodes["next"] = nodes["cell"] = -1
    work = new_record(WORK)
    work.used = 1
    return nodes, work


@jit(int64(NODES_TYPE, int64))
def select_child(nodes: np.ndarray, node: int) -> int:
    """Select the child with the largest upper confidence bound; all have been visited."""
    log = math.log(nodes[node].visits)
    best, best_bound = -1, -1.0
    child = nodes[node].first
    while child >= 0:
        visits = nodes[child].visits
        bound = nodes[child].wins / visits + EXPLORATION * math.sqrt(log / visits)
        if bound > best_bound:
            best, best_bound = child, bound
        child = nodes[child].next
    return best


@jit(int64(NODES_TYPE, WORK_TYPE, BOARD_TYPE, int64))
def _untried(nodes: np.ndarray, work: np.record, board: np.record, node: int) -> int:
    """Draw one of the cells that have no child yet."""
    work.stamp += 1
    child = nodes[node].first
    while child >= 0:
        work.stamps[nodes[child].cell] = work.stamp
        child = nodes[child].next
    skip = random_below(board, board.count - nodes[node].tried)
    for at in range(board.count):
        cell: int = board.empty[at]
        if work.stamps[cell] != work.stamp:
            if skip == 0:
                return cell
            skip -= 1
    return -1


@jit(int64(NODES_TYPE, WORK_TYPE, BOARD_TYPE, int64))
def _add_child(nodes: np.ndarray, work: np.record, board: np.record, node: int) -> int:
    """Add a child for a move that has not been tried."""
    child: int = work.used
    work.used += 1
    nodes[child].cell = _untried(nodes, work, board, node)
    nodes[child].next = nodes[node].first
    nodes[node].first = child
    nodes[node].tried += 1
    return child


@jit(int64(NODES_TYPE, WORK_TYPE, BOARD_TYPE))
def _select_leaf(nodes: np.ndarray, work: np.record, board: np.record) -> int:
    """Select and expand a leaf, and play out; 4 times the path's length, plus the winner."""
    node, depth = 0, 0
    while board.count > 0:
        is_new = nodes[node].tried < board.count
        if is_new and work.used == len(nodes):
            break
        node = _add_child(nodes, work, board, node) if is_new else select_child(nodes, node)
        depth += 1
        work.path[depth] = node
        side: int = board.side
        if place_stone(board, nodes[node].cell):
            return 4 * depth + side
        if is_new:
            break
    return 4 * depth + play_out(board)


@jit(void(NODES_TYPE, WORK_TYPE, BOARD_TYPE, BOARD_TYPE, int64))
def run_simulations(
    nodes: np.ndarray, work: np.record, root: np.record, board: np.record, playouts: int
) -> None:
    """Run simulations; `board` is played on and left as it comes."""
    for _ in range(playouts):
        copy_position(board, root)
        end = _select_leaf(nodes, work, board)
        winner = end & 3
        mover = 1 - root.side
        for at in range((end >> 2) + 1):
            node = work.path[at]
            nodes[node].visits += 1
            if winner == mover:
                nodes[node].wins += 1.0
            elif winner == DRAW:
                nodes[node].wins += 0.5
            mover = 1 - mover

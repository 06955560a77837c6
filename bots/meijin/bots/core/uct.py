"""UCT: Monte-Carlo tree search by UCB1, with uniformly random playouts.

The form is that of Kocsis and Szepesvari, "Bandit based Monte-Carlo planning" (2006):
a node for each position, a child for each legal move, unvisited children first.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence

import numpy as np

from meijin.bots.core.jit import array_type, int64, jit, new_record, record_type, uint64, void
from meijin.bots.core.limits import Clock, TreeLimits, TreeResult
from meijin.bots.core.lookup import CELLS, FIVES, LINES, SIDE
from meijin.bots.core.shapes import Fives
from meijin.game import Board, Variant

DRAW = 2
"""The result of a game that neither side, 0 or 1, has won."""

BOARD = np.dtype(
    [
        ("line_length", np.int64),  # stones in a row that win
        ("exact", np.int64, 2),  # by side: 1 where a longer row does not
        ("has_blocks", np.int64),  # 1 where a row of just that length needs a free end
        ("side", np.int64),  # to move: 0 black, 1 white
        ("seed", np.uint64),  # of the next draw; never 0
        ("count", np.int64),  # empty cells
        ("empty", np.int64, CELLS),  # the empty cells in any order, `count` of them
        ("place", np.int64, CELLS),  # of an empty cell in `empty`
        ("stones", np.uint64, (2, 4, LINES)),  # a bit per stone, by side, direction and line
        ("line", np.int64, (4, CELLS)),  # of each cell, by direction
        ("cells", np.uint64, (4, LINES)),  # of the board, a bit each, by direction and line
        ("bit", np.uint64, (4, CELLS)),  # of each cell in its line
    ],
    align=True,
)
"""A position for playouts. Lines hold bits alone: a stone costs four of them and no patterns."""
BOARD_TYPE = record_type(BOARD)


def new_board(variant: Variant, seed: int = 1) -> np.record:
    """Make an empty board; the same seed draws the same games."""
    board = new_record(BOARD)
    fives = FIVES[variant.rule.name]
    board.line_length = variant.line
    board.exact[:] = [side not in {Fives.ANY, Fives.UNBLOCKED} for side in fives]
    board.has_blocks = fives[0] in {Fives.UNBLOCKED, Fives.UNBLOCKED_EXACT}
    board.seed = (seed * 0x9E3779B97F4A7C15 & (1 << 64) - 1) or 1
    row, column = np.divmod(np.arange(variant.cells), variant.width)
    cells = slice(variant.cells)
    for direction, line in enumerate((row, column, row + column, row - column + SIDE - 1)):
        board.line[direction, cells] = line
        along = column if direction == 0 else row
        board.bit[direction, cells] = np.uint64(1) << along.astype(np.uint64)
        np.bitwise_or.at(board.cells[direction], line, board.bit[direction, cells])
    board.count = variant.cells
    board.empty[cells] = board.place[cells] = np.arange(variant.cells)
    return board


def set_up(board: np.record, moves: Iterable[int]) -> None:
    """Play the moves, black's first, on an empty board."""
    for cell in moves:
        place_stone(board, cell)


@jit(uint64(uint64, int64, int64))
def runs_in(line: np.uint64, length: int, exact: int) -> np.uint64:
    """The first bits of all rows of `length`, or of exactly as many, in a line of bits."""
    run = line
    for _ in range(length - 1):
        run &= run >> np.uint64(1)
    if exact:
        run &= ~(line << np.uint64(1)) & ~(line >> np.uint64(length))
    return run


@jit(int64(uint64, int64, int64))
def has_run(line: np.uint64, length: int, exact: int) -> int:
    """Whether a line of bits has `length` in a row, or exactly as many."""
    return int(runs_in(line, length, exact) != np.uint64(0))


@jit(int64(uint64, uint64, int64, int64))
def has_unblocked_run(line: np.uint64, free: np.uint64, length: int, exact: int) -> int:
    """Whether a line has exactly `length` in a row beside a free bit, or more unless `exact`."""
    if not exact and has_run(line, length + 1, 0):
        return 1
    beside = (free << np.uint64(1)) | (free >> np.uint64(length))
    return int(runs_in(line, length, 1) & beside != np.uint64(0))


@jit(int64(BOARD_TYPE, int64, int64, int64))
def wins_along(board: np.record, side: int, direction: int, line: int) -> int:
    """Whether a side has a winning row in a line."""
    own = board.stones[side, direction, line]
    if board.has_blocks == 0:
        return has_run(own, board.line_length, board.exact[side])
    free = board.cells[direction, line] & ~own & ~board.stones[1 - side, direction, line]
    return has_unblocked_run(own, free, board.line_length, board.exact[side])


@jit(void(BOARD_TYPE, int64))
def take_cell(board: np.record, cell: int) -> None:
    """Leave an empty cell out of those that may be played on."""
    last = board.empty[board.count - 1]
    at = board.place[cell]
    board.empty[at] = last
    board.place[last] = at
    board.count -= 1


@jit(int64(BOARD_TYPE, int64))
def place_stone(board: np.record, cell: int) -> int:
    """Place a stone of the side to move; 1 where it wins."""
    side = board.side
    won = 0
    for direction in range(4):
        line = board.line[direction, cell]
        board.stones[side, direction, line] |= board.bit[direction, cell]
        won |= wins_along(board, side, direction, line)
    take_cell(board, cell)
    board.side = 1 - side
    return won


@jit(int64(BOARD_TYPE, int64))
def random_below(board: np.record, below: int) -> int:
    """A random number from 0 to `below` - 1 (xorshift64, Marsaglia 2003)."""
    seed = board.seed
    seed ^= seed << np.uint64(13)
    seed ^= seed >> np.uint64(7)
    seed ^= seed << np.uint64(17)
    board.seed = seed
    return int(((seed >> np.uint64(32)) * np.uint64(below)) >> np.uint64(32))


@jit(int64(BOARD_TYPE))
def play_out(board: np.record) -> int:
    """Play random moves until the game is over, and return the side that wins, or `DRAW`."""
    while board.count > 0:
        side: int = board.side
        if place_stone(board, board.empty[random_below(board, board.count)]):
            return side
    return DRAW


@jit(void(BOARD_TYPE, BOARD_TYPE))
def copy_position(board: np.record, source: np.record) -> None:
    """Set the position of `board` to that of `source`; the geometry is the same."""
    board.side = source.side
    board.count = source.count
    for at in range(source.count):
        cell = source.empty[at]
        board.empty[at] = cell
        board.place[cell] = at
    for side in range(2):
        for direction in range(4):
            for line in range(LINES):
                board.stones[side, direction, line] = source.stones[side, direction, line]


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

"""Monte-Carlo tree search with UCT."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from random import Random

from meijin.bots.answer import Analysis, Choice
from meijin.bots.bot import Bot
from meijin.bots.budget import thinking_time
from meijin.bots.lines import Lines
from meijin.bots.position import Position
from meijin.game import FREESTYLE, STANDARD, Board, Color
from meijin.wire import Capabilities

EXPLORATION = math.sqrt(2)
"""The C of UCT: how much a rarely visited cell is preferred to a good one."""
WIDTH = 16
"""Cells tried at each node, the most promising of all and the best of them first."""
PLAYOUT_PLIES = 40
"""A playout that goes on for longer counts as a draw."""

_BOTH = Color.BLACK + Color.WHITE
_DRAWS = 8


class MctsBot(Bot):
    """Plays each position out many times, by chance, and more often where that goes well."""

    name = "mcts"
    capabilities = Capabilities(
        rules=(FREESTYLE, STANDARD),
        min_size=3,
        max_size=22,
        min_move_time=timedelta(milliseconds=50),
        any_line=True,
    )

    def __init__(
        self,
        seed: int | None = None,
        time_limit: timedelta | None = None,
        playouts: int | None = None,
    ) -> None:
        """Set the most that one move may cost; the clock of the game limits it anyway."""
        self._rng = Random(seed)  # noqa: S311 - no secret hangs on it
        self._seed = seed
        self._time_limit = time_limit
        self._playouts = playouts

    @property
    def configuration(self) -> Mapping[str, str]:
        """The seed and the limits that it was given."""
        options = {"seed": self._seed, "time_limit": self._time_limit, "playouts": self._playouts}
        return {name: str(option) for name, option in options.items() if option is not None}

    def choose(self, position: Position) -> Choice:
        """Search for the time that the clock allows."""
        return search(
            position.board,
            self._rng,
            playouts=self._playouts or math.inf,
            seconds=thinking_time(position, self._time_limit).total_seconds(),
        )


def search(
    board: Board,
    rng: Random,
    *,
    playouts: float = math.inf,
    seconds: float = math.inf,
    clock: Callable[[], float] = time.monotonic,
) -> Choice:
    """Find the cell that is visited most; the game must not be over."""
    end = clock() + seconds
    lines = Lines(board)
    side = int(board.side_to_move)
    if wins := lines.completing(side):
        return Choice(wins[0], Analysis(score=100, depth=1, nodes=1, pv=wins[:1]))
    root = _Node(-1)
    while not root.children or (root.visits < playouts and clock() < end):
        _visit(root, lines.copy(), side, rng)
    best = root.favourite()
    pv = _expected(root)
    score = round(100 * best.wins / best.visits)
    return Choice(best.cell, Analysis(score=score, depth=len(pv), nodes=root.visits, pv=pv))


class _Node:
    """A position in the tree."""

    __slots__ = ("cell", "children", "untried", "visits", "winner", "wins")

    def __init__(self, cell: int) -> None:
        self.cell = cell
        """Of the stone that led here."""
        self.visits = 0
        self.wins = 0.0
        """Of the side that played `cell`; a draw is half of one."""
        self.winner: int | None = None
        """Where the game is decided: the side that wins, 0 for a draw."""
        self.children: list[_Node] = []
        self.untried: list[int] | None = None
        """Cells without a child, the least promising first; missing until they are needed."""

    def next_child(self, lines: Lines, side: int) -> _Node:
        """Take a child never visited, as long as there is one, then the choice of UCT."""
        if self.untried is None:
            self.untried = (lines.completing(_BOTH - side) or lines.promising(WIDTH))[::-1]
        if self.untried:
            self.children.append(_Node(self.untried.pop()))
            return self.children[-1]
        logarithm = math.log(self.visits)
        return max(
            self.children,
            key=lambda child: (
                child.wins / child.visits + EXPLORATION * math.sqrt(logarithm / child.visits)
            ),
        )

    def favourite(self) -> _Node:
        """Return the child visited most."""
        return max(self.children, key=lambda child: child.visits)


def _visit(node: _Node, lines: Lines, side: int, rng: Random) -> int:
    """Go down to a new node and play on from there; every node on the way counts the winner."""
    if node.winner is not None:
        winner = node.winner
    elif node.visits == 0:
        winner = _judge(node, lines, side, rng)
    else:
        child = node.next_child(lines, side)
        lines.place(child.cell, side)
        winner = _visit(child, lines, _BOTH - side, rng)
    node.visits += 1
    node.wins += 0.5 if not winner else float(winner != side)
    return winner


def _judge(node: _Node, lines: Lines, side: int, rng: Random) -> int:
    """Find the winner of a position seen for the first time."""
    if lines.completing(side):
        node.winner = side
    elif not lines.empty:
        node.winner = 0
    return play_out(lines, side, rng) if node.winner is None else node.winner


def play_out(lines: Lines, side: int, rng: Random) -> int:
    """Find the winner when both sides win or block where they can, else play by chance."""
    occupied = [cell for cell, stone in enumerate(lines.stones) if stone]
    for _ in range(PLAYOUT_PLIES):
        if lines.completing(side):
            return side
        if not lines.empty:
            return 0
        blocks = lines.completing(_BOTH - side)
        cell = blocks[0] if blocks else _any_cell(lines, occupied, rng)
        lines.place(cell, side)
        occupied.append(cell)
        side = _BOTH - side
    return 0


def _any_cell(lines: Lines, occupied: list[int], rng: Random) -> int:
    """Draw an empty cell near a stone; where draws fail, any empty cell."""
    near, stones = lines.geometry.near, lines.stones
    for _ in range(_DRAWS if occupied else 0):
        around = near[occupied[int(rng.random() * len(occupied))]]
        cell = around[int(rng.random() * len(around))]
        if not stones[cell]:
            return cell
    return rng.choice([cell for cell, stone in enumerate(stones) if not stone])


def _expected(root: _Node) -> list[int]:
    """List the cells visited most, one after the other."""
    cells = []
    node = root
    while node.children:
        node = node.favourite()
        cells.append(node.cell)
    return cells

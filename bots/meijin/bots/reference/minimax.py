"""Minimax, and alpha-beta written in both of its usual ways.

All search as many plies as `depth` says and evaluate there, or where the game is over; all
give the same value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias

from meijin.bots.reference.game import Game, Move, Ordering, scan
from meijin.bots.reference.trace import Trace, Window


@dataclass(frozen=True, slots=True)
class Found(Generic[Move]):
    """The result of a search: the root's value and its best moves."""

    value: float
    """To the maximiser."""
    moves: tuple[Move, ...]
    """The best moves, in the order searched; none where the first position is a leaf.

    Alpha-beta names the first alone: of the others it knows that they are no better, not
    that they are as good.
    """
    nodes: int
    """Positions visited, the first included."""
    leaves: int
    """Those of them that were evaluated."""

    @property
    def move(self) -> Move:
        """The first of the best moves.

        Raises:
            IndexError: there is none.
        """
        return self.moves[0]


@dataclass(frozen=True, slots=True)
class Bounds:
    """A transposition table's entry: the bounds of a value, to the side to move."""

    low: float
    high: float

    def cutoff(self, alpha: float, beta: float) -> float | None:
        """The value, as far as a search with this window has to know it."""
        if self.low == self.high or self.low >= beta:
            return self.low
        return self.high if self.high <= alpha else None


Table: TypeAlias = dict[tuple[Hashable, float], Bounds]
"""A transposition table: entries by the position's key and the plies that were left to search.

An entry counts for its own depth alone, so a search gives the same value with a table as
without.
"""


def minimax(
    game: Game[Move], depth: float = math.inf, *, trace: Trace[Move] | None = None
) -> Found[Move]:
    """Minimax: visit every position up to `depth` plies away."""
    search = _Minimax(game, scan, trace)
    value = search.run(lambda: search.value(depth))
    best = tuple(move for move, found in search.tried if found == value)
    return Found(value, best, search.nodes, search.leaves)


def alphabeta(
    game: Game[Move],
    depth: float = math.inf,
    *,
    order: Ordering[Move] = scan,
    trace: Trace[Move] | None = None,
) -> Found[Move]:
    """Alpha-beta: leave a position as soon as a side will not let it come about."""
    search = _AlphaBeta(game, order, trace)
    start = search.max_value if game.maximiser_to_move else search.min_value
    return search.found(search.run(lambda: start(-math.inf, math.inf, depth)))


def negamax(
    game: Game[Move],
    depth: float = math.inf,
    *,
    order: Ordering[Move] = scan,
    table: Table | None = None,
    trace: Trace[Move] | None = None,
) -> Found[Move]:
    """Negamax: alpha-beta in one function, from the view of the side to move."""
    search = _Negamax(game, order, trace, table)
    sign = search.sign
    return search.found(search.run(lambda: sign * search.value(-math.inf, math.inf, depth)))


def fewest_leaves(branching: int, depth: int) -> int:
    """The leaves that no alpha-beta can do without, where each position has `branching` moves.

    With the best move first everywhere it visits these and no more.
    """
    half = depth // 2
    leaves: int = branching ** (depth - half) + branching**half - 1
    return leaves


class _Search(Generic[Move]):
    """Plays and takes back, counts positions and tells the trace."""

    def __init__(self, game: Game[Move], order: Ordering[Move], trace: Trace[Move] | None) -> None:
        self.game = game
        self.order = order
        self.trace = trace
        self.nodes = 0
        self.leaves = 0
        self.ply = 0
        self.tried: list[tuple[Move, float]] = []
        """The moves of the first position with their values, in the order searched."""

    def found(self, value: float) -> Found[Move]:
        """Name the move that raised alpha last, or lowered beta: the first with `value`."""
        best = tuple(move for move, found in self.tried if found == value)[:1]
        return Found(value, best, self.nodes, self.leaves)

    def run(self, search: Callable[[], float]) -> float:
        """Carry the search out, as the trace's first step."""
        if self.trace is not None:
            self.trace.enter(None, Window(), maximises=self.game.maximiser_to_move)
        value = search()
        if self.trace is not None:
            self.trace.leave(value)
        return value

    def is_leaf(self, depth: float) -> bool:
        """Whether to evaluate here; asked once at each position."""
        self.nodes += 1
        is_leaf = depth <= 0 or self.game.is_over
        self.leaves += is_leaf
        return is_leaf

    def moves(self) -> Sequence[Move]:
        return self.order(self.game, self.game.moves())

    def enter(self, move: Move, alpha: float = -math.inf, beta: float = math.inf) -> None:
        self.game.play(move)
        self.ply += 1
        if self.trace is not None:
            self.trace.enter(move, Window(alpha, beta), maximises=self.game.maximiser_to_move)

    def leave(self, move: Move, value: float) -> float:
        """Take the move back and return what it gave to the maximiser."""
        self.game.undo()
        self.ply -= 1
        if self.ply == 0:
            self.tried.append((move, value))
        if self.trace is not None:
            self.trace.leave(value)
        return value

    def skip(self, moves: Iterable[Move]) -> None:
        if self.trace is not None:
            self.trace.skip(moves)


class _Minimax(_Search[Move]):
    def value(self, depth: float) -> float:
        if self.is_leaf(depth):
            return self.game.evaluate()
        best = max if self.game.maximiser_to_move else min
        return best([self._try(move, depth) for move in self.moves()])

    def _try(self, move: Move, depth: float) -> float:
        self.enter(move)
        return self.leave(move, self.value(depth - 1))


class _AlphaBeta(_Search[Move]):
    def max_value(self, alpha: float, beta: float, depth: float) -> float:
        if self.is_leaf(depth):
            return self.game.evaluate()
        best = -math.inf
        for move in (moves := iter(self.moves())):
            self.enter(move, alpha, beta)
            best = max(best, self.leave(move, self.min_value(alpha, beta, depth - 1)))
            alpha = max(alpha, best)
            if alpha >= beta:
                self.skip(moves)
                break
        return best

    def min_value(self, alpha: float, beta: float, depth: float) -> float:
        if self.is_leaf(depth):
            return self.game.evaluate()
        best = math.inf
        for move in (moves := iter(self.moves())):
            self.enter(move, alpha, beta)
            best = min(best, self.leave(move, self.max_value(alpha, beta, depth - 1)))
            beta = min(beta, best)
            if alpha >= beta:
                self.skip(moves)
                break
        return best


class _Negamax(_Search[Move]):
    def __init__(
        self,
        game: Game[Move],
        order: Ordering[Move],
        trace: Trace[Move] | None,
        table: Table | None,
    ) -> None:
        super().__init__(game, order, trace)
        self._table = table

    @property
    def sign(self) -> int:
        """1 where the maximiser is to move, else -1."""
        return 1 if self.game.maximiser_to_move else -1

    def value(self, alpha: float, beta: float, depth: float) -> float:
        """What the position is worth to the side to move, if it lies between the bounds.

        Up to `alpha` it is an upper bound of that, from `beta` on a lower one.
        """
        if self.is_leaf(depth):
            return self.sign * self.game.evaluate()
        if (known := self._probe(alpha, beta, depth)) is not None:
            return known
        best = self._best(alpha, beta, depth)
        self._store(best, alpha, beta, depth)
        return best

    def _best(self, alpha: float, beta: float, depth: float) -> float:
        sign = self.sign
        best = -math.inf
        for move in (moves := iter(self.moves())):
            self.enter(move, *((alpha, beta) if sign == 1 else (-beta, -alpha)))
            score = -self.value(-beta, -alpha, depth - 1)
            self.leave(move, sign * score)
            best = max(best, score)
            alpha = max(alpha, best)
            if alpha >= beta:
                self.skip(moves)
                break
        return best

    def _probe(self, alpha: float, beta: float, depth: float) -> float | None:
        """Probe the table, unless this is the root: that one is asked for its moves."""
        if self._table is None or self.ply == 0:
            return None
        bounds = self._table.get((self.game.key, depth))
        return None if bounds is None else bounds.cutoff(alpha, beta)

    def _store(self, best: float, alpha: float, beta: float, depth: float) -> None:
        if self._table is not None:
            low = best if best > alpha else -math.inf
            high = best if best < beta else math.inf
            self._table[self.game.key, depth] = Bounds(low, high)

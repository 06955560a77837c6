"""UCT: Monte-Carlo tree search by UCB1, with random playouts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Generic

from meijin.bots.reference.game import Game, Move

EXPLORATION = math.sqrt(2)
"""The C of UCB1: how much a rarely visited move is preferred to a good one."""


@dataclass(frozen=True, slots=True)
class Estimate(Generic[Move]):
    """The result of a search by playouts."""

    move: Move
    """The one visited most."""
    value: float
    """The maximiser's mean reward after `move`, 0 to 1."""
    visits: Mapping[Move, int]
    """Playouts through each move that was tried."""


def win_rate(value: float) -> float:
    """The reward of a game that ended with `value`: 1 for a win of the maximiser's, 0.5, or 0."""
    return 0.5 if value == 0 else float(value > 0)


def uct(
    game: Game[Move],
    iterations: int,
    rng: Random,
    *,
    reward: Callable[[float], float] = win_rate,
) -> Estimate[Move]:
    """UCT: select, expand, play out and back up, `iterations` times.

    Raises:
        ValueError: there is nothing to search, or fewer than two iterations to do it in.
    """
    if game.is_over:
        raise ValueError("the game is over; there is no move to search for")
    if iterations < 2:  # noqa: PLR2004 - the first iteration is the root's own
        raise ValueError(f"{iterations} iterations try no move; give 2 or more")
    search = _Uct(game, rng, reward)
    for _ in range(iterations):
        search.iterate()
    children = search.root.children
    move = max(children, key=lambda move: children[move].visits)
    visits = {move: child.visits for move, child in children.items()}
    return Estimate(move, children[move].mean, visits)


@dataclass(slots=True)
class _Node(Generic[Move]):
    visits: int = 0
    total: float = 0.0
    """Of the maximiser's rewards."""
    children: dict[Move, _Node[Move]] = field(default_factory=dict)
    unvisited: list[Move] | None = None
    """Moves without a child, in any order; missing until they are needed."""

    @property
    def mean(self) -> float:
        return self.total / self.visits


class _Uct(Generic[Move]):
    def __init__(
        self,
        game: Game[Move],
        rng: Random,
        reward: Callable[[float], float],
    ) -> None:
        self.root: _Node[Move] = _Node()
        self._game = game
        self._rng = rng
        self._reward = reward

    def iterate(self) -> None:
        path = [self.root]
        while path[-1].visits and not self._game.is_over:
            move = self._select(path[-1])
            self._game.play(move)
            path.append(path[-1].children.setdefault(move, _Node()))
        reward = self._play_out()
        for node in path:
            node.visits += 1
            node.total += reward
        for _ in path[1:]:
            self._game.undo()

    def _select(self, node: _Node[Move]) -> Move:
        """Take an unvisited move as long as there is one, then the highest bound."""
        if node.unvisited is None:
            moves = self._game.moves()
            node.unvisited = self._rng.sample(moves, len(moves))
        if node.unvisited:
            return node.unvisited.pop()
        maximises = self._game.maximiser_to_move
        logarithm = math.log(node.visits)

        def bound(move: Move) -> float:
            child = node.children[move]
            mean = child.mean if maximises else 1 - child.mean
            return mean + EXPLORATION * math.sqrt(logarithm / child.visits)

        return max(node.children, key=bound)

    def _play_out(self) -> float:
        plies = 0
        while not self._game.is_over:
            self._game.play(self._rng.choice(self._game.moves()))
            plies += 1
        reward = self._reward(self._game.evaluate())
        for _ in range(plies):
            self._game.undo()
        return reward

"""The pure form of Monte-Carlo tree search, ready to be asked."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from meijin.bots.core.playout import new_board, set_up
from meijin.bots.core.thought import Clock, Effort, Thought
from meijin.bots.core.uct import grow, new_tree
from meijin.game import Variant

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

    def think(self, moves: Sequence[int], effort: Effort) -> Thought:
        """Find the move visited most; the game must not be over."""
        end = self._clock() + effort.seconds
        root = new_board(self._variant)
        set_up(root, moves)
        nodes, work = new_tree(CAPACITY)
        while (visits := int(nodes[0]["visits"])) < effort.visits:
            grow(nodes, work, root, self._board, min(CHUNK, effort.visits - visits))
            if self._clock() >= end:
                break
        best = _favourite(nodes, 0)
        return Thought(
            cell=int(nodes[best]["cell"]),
            share=float(nodes[best]["wins"] / nodes[best]["visits"]),
            visits=int(nodes[0]["visits"]),
            line=_line(nodes),
        )


def _favourite(nodes: np.ndarray, node: int) -> int:
    """The child visited most, or -1."""
    best, child = -1, int(nodes[node]["first"])
    while child >= 0:
        if best < 0 or nodes[child]["visits"] > nodes[best]["visits"]:
            best = child
        child = int(nodes[child]["next"])
    return best


def _line(nodes: np.ndarray) -> tuple[int, ...]:
    line: list[int] = []
    node = _favourite(nodes, 0)
    while node >= 0:
        line.append(int(nodes[node]["cell"]))
        node = _favourite(nodes, node)
    return tuple(line)

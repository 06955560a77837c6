"""Explicit trees, and three that are worked through by hand."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Tree:
    """A position with its branches; without any it is a leaf."""

    name: str = ""
    branches: tuple[Tree, ...] = ()
    value: float = 0
    """Of a leaf, to the maximiser."""

    @property
    def is_leaf(self) -> bool:
        return not self.branches

    def at(self, path: Sequence[int]) -> Tree:
        """The tree that `path`, numbers of branches from 0, leads to."""
        tree = self
        for branch in path:
            tree = tree.branches[branch]
        return tree


def node(name: str, *branches: Tree | float) -> Tree:
    """A tree of branches; a number is a leaf."""
    trees = [one if isinstance(one, Tree) else Tree(value=one) for one in branches]
    return Tree(name, tuple(trees))


class TreeGame:
    """A walk down a tree: `Game` of the numbers of branches, from 0."""

    def __init__(self, tree: Tree, *, maximiser_first: bool = True) -> None:
        self.tree = tree
        self._maximiser_first = maximiser_first
        self._path: list[int] = []
        self._above: list[Tree] = []
        self._here = tree

    @property
    def is_over(self) -> bool:
        return self._here.is_leaf

    @property
    def maximiser_to_move(self) -> bool:
        return (len(self._path) % 2 == 0) == self._maximiser_first

    @property
    def key(self) -> Hashable:
        """The path, since no two lead to the same place."""
        return tuple(self._path)

    def moves(self) -> Sequence[int]:
        return range(len(self._here.branches))

    def play(self, move: int) -> None:
        self._above.append(self._here)
        self._path.append(move)
        self._here = self._here.branches[move]

    def undo(self) -> None:
        self._here = self._above.pop()
        self._path.pop()

    def evaluate(self) -> float:
        return self._here.value


@dataclass(frozen=True, slots=True)
class Example:
    """A tree worked through by hand."""

    tree: Tree
    maximiser_first: bool

    def game(self) -> TreeGame:
        return TreeGame(self.tree, maximiser_first=self.maximiser_first)


S1 = Example(
    node(
        "root",
        node("B1", node("A3", 4, 2), node("A4", 1, 5)),
        node("B2", node("A5", 4, 3), node("A6", 6, 7)),
    ),
    maximiser_first=False,
)
"""The minimiser first, worth 2; A4's second leaf and all of A6 are pruned."""

S2 = Example(
    node("root", node("B", 3, 12, 8), node("C", 2, 4, 6), node("D", 14, 5, 2)),
    maximiser_first=True,
)
"""Worth 3; C's second and third leaves are pruned."""

S4 = Example(
    node(
        "R",
        node("A", node("A1", 3, 6, 5), node("A2", 2, 8, 4), node("A3", 7, 1, 9)),
        node("B", node("B1", 5, 4, 1), node("B2", 6, 3, 8), node("B3", 2, 9, 7)),
        node("C", node("C1", 3, 7, 6), node("C2", 4, 8, 1), node("C3", 5, 9, 2)),
    ),
    maximiser_first=True,
)
"""Worth 7 by C; five leaves and all of B2 and B3 are pruned."""

EXAMPLES: Mapping[str, Example] = MappingProxyType({"s1": S1, "s2": S2, "s4": S4})
"""By their names."""

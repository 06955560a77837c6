"""Lineage: which version of a bot came after which, for a prior that links their strengths."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from meijin.ladder.statistics.fit.pair_counts import Integers


@dataclass(frozen=True, slots=True, eq=False)
class Lineage:
    """Links from versions to those that they came from; columns of one length, one row a child.

    A child's strength is its parent's and a normal step: a Gaussian random walk along each
    bot's versions. Where versions between the two are not rated the walk took several steps, and
    their variances add up.
    """

    child: Integers
    """Any integers name the players; each is a child once at most."""
    parent: Integers
    steps: Integers
    """How many versions the child is further than the parent, from 1 on."""

    @classmethod
    def none(cls) -> Self:
        nobody = np.empty(0, dtype=np.int64)
        return cls(nobody, nobody, nobody)

    @classmethod
    def nearest(cls, parents: Mapping[int, int], players: Integers) -> Self:
        """Link each of the players to the nearest ancestor that is one of them.

        Args:
            parents: What each version came from, whether it plays or not.
        """
        known = set(players.tolist())
        rows = []
        for child in sorted(known):
            ancestor, steps = parents.get(child), 1
            while ancestor is not None and ancestor not in known:
                ancestor, steps = parents.get(ancestor), steps + 1
            if ancestor is not None:
                rows.append((child, ancestor, steps))
        return cls(*np.array(rows, dtype=np.int64).reshape(-1, 3).T)

    def __len__(self) -> int:
        return len(self.child)

    def places(self, players: Integers) -> Self:
        """The links within the sorted `players`, each named by its place, sorted by child."""
        rows = np.argsort(self.child, kind="stable")
        rows = rows[np.isin(self.child[rows], players) & np.isin(self.parent[rows], players)]
        child = np.searchsorted(players, self.child[rows])
        return type(self)(child, np.searchsorted(players, self.parent[rows]), self.steps[rows])

    def founders(self, players: int) -> Integers:
        """The first version of each of the players 0, 1, ..., named by places; shape (players,)."""
        ancestor = np.arange(players)
        ancestor[self.child] = self.parent
        while (ancestor[ancestor] != ancestor).any():
            ancestor = ancestor[ancestor]
        return ancestor

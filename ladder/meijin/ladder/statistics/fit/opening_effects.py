"""Opening effects: which openings have an advantage of their own, and their games."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from meijin.ladder.statistics.fit.pair_counts import (
    Floats,
    Integers,
    PairCounts,
    distinct,
    places_in,
    sums,
)

MOST = 200
"""Openings with an effect: those with most games. Each is one more column of Newton's step."""
LEAST_GAMES = 20
"""An opening with fewer has none: it would be all but the prior's."""


@dataclass(frozen=True, eq=False)
class GroupedCounts:
    """The games of a fit, and how they are grouped in it: made once for fits of many widths."""

    players: Integers
    """Ascending; shape (n,)."""
    counts: PairCounts
    """Merged, with each player named by its place."""

    @classmethod
    def of(cls, counts: PairCounts) -> "GroupedCounts":
        """Of any counts."""
        return cls(*counts.indexed())

    @cached_property
    def pairs(self) -> PairCounts:
        """With one row a pair, whatever they began with."""
        return self.counts.pooled()

    @cached_property
    def reused(self) -> Integers:
        """The openings that may have an effect of their own, ascending; shape (k,)."""
        return reused_openings(self.counts)

    @cached_property
    def by_effect(self) -> PairCounts:
        """With one row a pair and effect, named by its place; those without are one more."""
        return by_effect(self.counts, self.reused)


def reused_openings(counts: PairCounts) -> Integers:
    """The openings with enough games for an effect of their own, ascending; shape (k,)."""
    if counts.openings is None:
        return np.empty(0, dtype=np.int64)
    openings = distinct(counts.openings)
    found = places_in(openings, counts.openings)
    games = sums(found, counts.wins + counts.draws + counts.losses, len(openings))
    # Of two with as many games the lower number goes first: the rows' order has no say.
    most = np.argsort(-games, kind="stable")[:MOST]
    return np.sort(openings[most[games[most] >= LEAST_GAMES]])


def by_effect(counts: PairCounts, openings: Integers) -> PairCounts:
    """The games merged, with each opening named by its place in `openings`.

    All others are the place after the last; without any it is `pooled`.
    """
    if counts.openings is None or not openings.size:
        return counts.pooled()
    return replace(counts, openings=_places(counts.openings, openings)).merged()


def effect_of_rows(counts: PairCounts, openings: Integers, effects: Floats) -> Floats:
    """The effect of each row's opening, 0 for those that have none; shape of the rows.

    Args:
        openings: Those with an effect, ascending; shape (k,).
        effects: Theirs; shape (k,).
    """
    if counts.openings is None or not openings.size:
        return np.zeros(len(counts.first))
    found: Floats = np.append(effects, 0.0)[_places(counts.openings, openings)]
    return found


def _places(column: Integers, openings: Integers) -> Integers:
    """Where each of a column stands in `openings`; after the last where it doesn't."""
    different = distinct(column)
    found = np.searchsorted(openings, different)
    found[found == len(openings)] = 0
    found = np.where(openings[found] == different, found, len(openings))
    return found[places_in(different, column)]

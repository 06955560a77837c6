"""Opening effects: which openings have an advantage of their own, and their games."""

from dataclasses import replace

import numpy as np

from meijin.ladder.statistics.pair_counts import Integers, PairCounts, sums

MOST = 200
"""Openings with an effect: those with most games. Each is one more column of Newton's step."""
LEAST_GAMES = 20
"""An opening with fewer has none: it would be all but the prior's."""


def reused_openings(counts: PairCounts) -> Integers:
    """The openings with enough games for an effect of their own, ascending; shape (k,)."""
    if counts.openings is None:
        return np.empty(0, dtype=np.int64)
    openings, places = np.unique(counts.openings, return_inverse=True)
    games = sums(places, counts.wins + counts.draws + counts.losses, len(openings))
    # Of two with as many games the lower number goes first: the rows' order has no say.
    most = np.argsort(-games, kind="stable")[:MOST]
    return np.sort(openings[most[games[most] >= LEAST_GAMES]])


def by_effect(counts: PairCounts, openings: Integers) -> PairCounts:
    """The games merged, with each opening named by its place in `openings`.

    All others are the place after the last; without any it is `pooled`.
    """
    if counts.openings is None or not openings.size:
        return counts.pooled()
    places = np.searchsorted(openings, counts.openings)
    places[places == len(openings)] = 0
    known = openings[places] == counts.openings
    return replace(counts, openings=np.where(known, places, len(openings))).merged()

"""Opening effects: which openings have an advantage of their own, and their games."""

from dataclasses import replace

import numpy as np

from meijin.ladder.statistics.pair_counts import Floats, Integers, PairCounts, distinct, sums

MOST = 200
"""Openings with an effect: those with most games. Each is one more column of Newton's step."""
LEAST_GAMES = 20
"""An opening with fewer has none: it would be all but the prior's."""


def reused_openings(counts: PairCounts) -> Integers:
    """The openings with enough games for an effect of their own, ascending; shape (k,)."""
    if counts.openings is None:
        return np.empty(0, dtype=np.int64)
    openings = distinct(counts.openings)
    places = np.searchsorted(openings, counts.openings)
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
    places = np.searchsorted(openings, column)
    places[places == len(openings)] = 0
    return np.where(openings[places] == column, places, len(openings))

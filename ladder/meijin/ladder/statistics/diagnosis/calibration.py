"""Calibration: what games came to that a fit of earlier ones has foretold, by what it told."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from meijin.ladder.statistics.fit.bradley_terry import Fit
from meijin.ladder.statistics.fit.pair_counts import Floats, PairCounts, places_in, sums

BINS = 10
"""Of equal width, from an even game to a sure one."""
EVEN = 0.5
DIGITS = 6
"""Decimals of an expected score that decide on its bin: the last bits differ among machines."""


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Games by what their favourites were told to score (a reliability diagram); shapes (BINS,)."""

    games: Floats
    expected: Floats
    """The favourites' points, as they were told."""
    points: Floats
    """The favourites' points."""

    @classmethod
    def of(cls, fitted: Fit, counts: PairCounts) -> Self:
        """Of games that are not in the fit; those of players whom it does not know are left out."""
        known = np.isin(counts.first, fitted.players) & np.isin(counts.second, fitted.players)
        rows = counts.at(known)
        one, other = (places_in(fitted.players, side) for side in (rows.first, rows.second))
        score = fitted.chances(one, other).score(fitted.elo[one] - fitted.elo[other])
        expected = np.round(score, DIGITS)
        games = rows.wins + rows.draws + rows.losses
        points = rows.wins + rows.draws / 2
        is_first = expected >= EVEN
        told = np.where(is_first, expected, 1 - expected)
        bins = np.minimum((told - EVEN) * BINS / EVEN, BINS - 1).astype(np.int64)
        return cls(
            games=sums(bins, games, BINS),
            expected=sums(bins, games * told, BINS),
            points=sums(bins, np.where(is_first, points, games - points), BINS),
        )

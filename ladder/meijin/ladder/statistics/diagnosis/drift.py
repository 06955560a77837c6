"""Drift: a player's residuals over time, and whether they rise or fall."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from meijin.ladder.statistics.diagnosis.residuals import Points
from meijin.ladder.statistics.fit.bradley_terry import ELO_PER_NAT, Fit
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, Mask, PairCounts

FEWEST_GAMES = 20
"""Of a player whose drift is looked for."""


@dataclass(frozen=True, slots=True, eq=False)
class ResidualsOverTime:
    """Sums over the games of each player in each time; shapes (n, t)."""

    games: Floats
    residuals: Floats
    """Points less those expected."""
    variances: Floats
    """Of the points, by the fit."""
    slopes: Floats
    """By how much the expected points rise with the player's strength; per nat."""

    @classmethod
    def of(cls, fit: Fit, counts: PairCounts, times: Integers) -> Self:
        """Of games told by time.

        Args:
            fit: Of all games.
            counts: The games by pair and time; its players are named as in `fit.players`.
            times: Of each row: a day, or a block of games in order; larger is later.
        """
        first, second = counts.places(fit.players)
        players = max(len(fit.players), 1)
        _, time = np.unique(times, return_inverse=True)
        span = int(time.max(initial=0)) + 1
        rows = PairCounts(first, second, counts.wins, counts.draws, counts.losses)
        ours = Points.of(fit, rows)
        theirs = ours.reversed_where(np.ones(len(first), dtype=bool))
        as_first = ours.added_up(first * span + time, players * span)
        as_second = theirs.added_up(second * span + time, players * span)
        return cls(
            games=(as_first.games + as_second.games).reshape(players, span),
            residuals=(as_first.residual + as_second.residual).reshape(players, span),
            variances=(as_first.variance + as_second.variance).reshape(players, span),
            slopes=(as_first.slope + as_second.slope).reshape(players, span),
        )

    def of_players(self, chosen: Mask) -> Self:
        """Those of some players."""
        arrays = (self.games, self.residuals, self.variances, self.slopes)
        return type(self)(*(array[chosen] for array in arrays))


@dataclass(frozen=True, slots=True, eq=False)
class Drift:
    """A linear trend of each player's strength over its own games; shapes (n,)."""

    elo_per_game: Floats
    deviations: Floats
    """The score test of no trend: standard normal where there is none; 0 for whom it is not done."""
    is_tested: np.ndarray[tuple[int], np.dtype[np.bool_]]

    @classmethod
    def of(cls, fit: Fit, counts: PairCounts, times: Integers) -> Self:
        """The drift over games told by time.

        A score test (Rao 1948; Cox & Hinkley, Theoretical statistics, 1974, 9.3): the sum of
        the residuals times how many games the player had before, centred, so that its strength
        is no part of it. That the opponents' strengths are fitted too is left out, which makes
        the variance a little too large.

        Args:
            fit: Of all games.
            counts: See `ResidualsOverTime.of`.
            times: Likewise.
        """
        over = ResidualsOverTime.of(fit, counts, times)
        games, slopes, variances = over.games, over.slopes, over.variances
        before = np.cumsum(games, axis=1) - games / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            middle = (slopes * before).sum(axis=1) / slopes.sum(axis=1)
            lever = before - middle[:, None]
            trend = (over.residuals * lever).sum(axis=1)
            per_nat = (slopes * lever**2).sum(axis=1)
            variance = (variances * lever**2).sum(axis=1)
            is_tested = (games.sum(axis=1) >= FEWEST_GAMES) & (variance > 0)
            deviations = np.where(is_tested, trend / np.sqrt(variance), 0.0)
            elo = np.where(is_tested, ELO_PER_NAT * trend / per_nat, 0.0)
        return cls(elo, deviations, is_tested)


def in_blocks(games: int, blocks: int) -> Integers:
    """The block of each of so many games in order, when all blocks are equal; shape (games,)."""
    return np.arange(games, dtype=np.int64) * blocks // max(games, 1)

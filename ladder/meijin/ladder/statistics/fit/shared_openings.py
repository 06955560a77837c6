"""What the games on one opening have in common, by products of their residuals."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from meijin.ladder.statistics.fit.bradley_terry import Fit


@dataclass(frozen=True, slots=True)
class SharedOpenings:
    """Whether who moves first scores alike in two games on one opening, with either colour.

    Only products of two such games' residuals are looked at: games with the same colours may be
    repeated. Their sum is a score test of the openings' variance (Lin, Variance component testing in
    generalised linear models with random effects, 1997); where it is what a fit expects by its own
    variance, that is the one found by the method of moments.
    """

    found: float
    """The sum, without what it would be by the fit having followed the games."""
    expected: float
    """By the fit's variance of openings; where that is 0, for a variance of 1 nat^2."""
    deviation: float
    """Of the sum where openings do not differ: the root of the sum of its terms' squares, since
    they are more than luck makes them where games are repeated."""

    @property
    def ratio(self) -> float:
        """What is found of what is expected; not below 0."""
        return max(self.found, 0.0) / self.expected if self.expected > 0 else 0.0

    @property
    def deviations(self) -> float:
        """How sure it is that openings differ: about standard normal where they do not."""
        return self.found / self.deviation if self.deviation > 0 else 0.0

    @classmethod
    def of(cls, fitted: Fit) -> Self:
        units = fitted.games.units
        second = np.flatnonzero(units.signs < 0)
        if not second.size:
            return cls(0.0, 0.0, 0.0)
        counts = units.counts
        chances = fitted.chances(counts.first, counts.second)
        wins, losses, weights = chances.by_opening(
            fitted.elo[counts.first] - fitted.elo[counts.second]
        )
        scores = (1 + wins - losses) / 2
        mean = np.tensordot(weights, scores, axes=1)
        games = counts.wins + counts.draws + counts.losses
        residual = counts.wins + counts.draws / 2 - games * mean
        first = second - 1
        times = units.row_times[second]
        products, terms = times * games[first] * games[second], residual[first] * residual[second]
        slopes = np.tensordot(weights, wins * (1 - wins) + losses * (1 - losses), axes=1) / 2
        shared = slopes[first] * slopes[second]
        if fitted.prior.opening:
            together = np.tensordot(weights, scores[:, first] * scores[:, second], axes=1)
            shared = together - mean[first] * mean[second]
        informed = float(units.row_times @ (games * slopes))
        followed = (len(fitted.players) - 1) * float(products @ (slopes[first] * slopes[second]))
        return cls(
            found=float(times @ terms) - followed / max(informed, 1e-9),
            expected=float(products @ shared),
            deviation=float(times @ terms**2) ** 0.5,
        )

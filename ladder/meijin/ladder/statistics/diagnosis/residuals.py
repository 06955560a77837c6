"""Residuals of a fit by pair: what two scored, less what their ratings let expect.

Their significance is by tails of the chi-square distribution, and p-values of many tests at once.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Self

import numpy as np

from meijin.ladder.statistics.fit.bradley_terry import ELO_PER_NAT, Fit
from meijin.ladder.statistics.fit.covariance import Covariance, normal_cdf
from meijin.ladder.statistics.fit.pair_counts import (
    Floats,
    Integers,
    Mask,
    PairCounts,
    numbered,
    sums,
)
from meijin.ladder.statistics.intervals.overdispersion import clustered_pairs


def chi_square_tail(values: Floats, freedom: Floats) -> Floats:
    """The chance that a chi-square variable exceeds each of `values`.

    By the cube root, which is nearly normal (Wilson & Hilferty, The distribution of chi-square,
    1931): from 3 degrees of freedom on it is right to 0.001, and to a tenth of itself down to
    chances of 0.001. Without any freedom nothing is sure, and the chance is 1.
    """
    freedom = np.asarray(freedom, dtype=np.float64)
    spread = 2 / (9 * np.maximum(freedom, 1e-9))
    root = np.cbrt(np.asarray(values) / np.maximum(freedom, 1e-9))
    return np.where(freedom > 0, normal_cdf((1 - spread - root) / np.sqrt(spread)), 1.0)


def two_sided(deviations: Floats) -> Floats:
    """The chance that a standard normal variable lies further from 0 than each of `deviations`."""
    return 2 * normal_cdf(-np.abs(deviations))


def holm(p_values: Floats, tests: int) -> Floats:
    """P-values for all tests together: the chance that even one is so small by chance.

    Holm's step-down method (A simple sequentially rejective multiple test procedure, 1979),
    which needs no independence.

    Args:
        p_values: The least ones, ascending.
        tests: How many tests there are in all.
    """
    left = tests - np.arange(len(p_values))
    return np.minimum(np.maximum.accumulate(left * p_values), 1.0)


def benjamini_hochberg(p_values: Floats) -> Floats:
    """False discovery rates: of all that are at most so large, the share that chance explains.

    Benjamini and Hochberg's step-up method (Controlling the false discovery rate, 1995).
    """
    order = np.argsort(p_values, kind="stable")[::-1]
    ranks = np.arange(len(order), 0, -1)
    adjusted = np.empty(len(order))
    shares = len(order) / ranks * p_values[order]
    adjusted[order] = np.minimum(np.minimum.accumulate(shares), 1.0)
    return adjusted


LEAST_REST = 0.05
"""Of a residual's variance, what the fit has to leave: where it leaves less, the fit follows
the pair's own games, and there is nothing to see."""
HALF_A_POINT = 0.5
"""The continuity correction: scores come in steps."""


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """The points of games beside those that a fit expects, from one side; of one shape, such as (k,)."""

    games: Floats
    scored: Floats
    expected: Floats
    variance: Floats
    """Of the points, by the fit."""
    slope: Floats
    """By how much the expected points rise with the difference of strengths; per nat."""
    fourth: Floats
    """The fourth cumulant of the points, by the fit."""

    @classmethod
    def of(cls, fit: Fit, counts: PairCounts) -> Self:
        """The first player's in each row of `counts`, whose players are places in the fit."""
        chances = fit.chances(counts.first, counts.second)
        lead = fit.elo[counts.first] - fit.elo[counts.second]
        (wins, win_slopes, _), (draws, _, _), (losses, loss_slopes, _) = chances.results(lead)
        mean = wins + draws / 2
        won, drawn, lost = (1 - mean) ** 2, (0.5 - mean) ** 2, mean**2
        square = wins * won + draws * drawn + losses * lost
        fourth = wins * won**2 + draws * drawn**2 + losses * lost**2
        games = counts.wins + counts.draws + counts.losses
        return cls(
            games=games,
            scored=counts.wins + counts.draws / 2,
            expected=games * mean,
            variance=games * square,
            slope=games * (win_slopes - loss_slopes) / 2,
            fourth=games * (fourth - 3 * square**2),
        )

    def reversed_where(self, turned: Mask) -> "Points":
        """The same games, some of them from the other side."""
        return replace(
            self,
            scored=np.where(turned, self.games - self.scored, self.scored),
            expected=np.where(turned, self.games - self.expected, self.expected),
        )

    def added_up(self, places: Integers, size: int) -> "Points":
        """The sums of the rows at each of the places 0, 1, ...; shapes (size,)."""
        return self.mapped(lambda column: sums(places, column, size))

    def mapped(self, change: Callable[[Floats], Floats]) -> "Points":
        return Points(*map(change, self.columns))

    @property
    def columns(self) -> Iterator[Floats]:
        return (getattr(self, each.name) for each in fields(self))

    @property
    def residual(self) -> Floats:
        return self.scored - self.expected


@dataclass(frozen=True, eq=False)
class PairResiduals:
    """The residuals of each two who met, colours together; shapes (k,)."""

    one: Integers
    """By places in the fit; less than `other`."""
    other: Integers
    points: Points
    """Of `one`."""
    rest: Floats
    """The share of the residual's variance that the fit leaves: 1 less the leverage."""

    @classmethod
    def of(cls, fit: Fit, covariance: Covariance, correlation: float = 0.0) -> Self:
        """The residuals of a fit.

        Args:
            fit: The fit.
            covariance: By the model.
            correlation: Of games that began alike: pairs scatter more by it. Where all began alike
                it can't be told from what depends on the pair, and is not heard.

        The variance of a residual is V - K^2 D: V that of the points, K their slope, and D the
        variance of the fitted difference, since points and the likelihood's gradient have the
        covariance K. So the leverage is K^2 D / V, which is that of logistic regression
        (Pregibon, Logistic regression diagnostics, 1981) where no game is drawn. What the fit
        of advantage and draws takes is left out: less than one pair's share in all.
        """
        counts = fit.games.pairs
        players = max(len(fit.players), 1)
        turned = counts.first > counts.second
        one = np.where(turned, counts.second, counts.first)
        other = np.where(turned, counts.first, counts.second)
        keys, rows = numbered(one * players + other)
        one, other = np.divmod(keys, players)
        points = Points.of(fit, counts).reversed_where(turned).added_up(rows, len(keys))
        if fit.games.has_openings and (fit.prior.opening or correlation):
            pairs = clustered_pairs(fit)
            varied = pairs.variance + correlation * pairs.most_alike
            points = replace(points, variance=points.variance * varied / pairs.information)
        known = covariance.of_differences(one, other) / ELO_PER_NAT**2
        with np.errstate(divide="ignore", invalid="ignore"):
            leverage = points.slope**2 * known / points.variance
        return cls(one, other, points, np.nan_to_num(np.maximum(1 - leverage, 0.0)))

    @cached_property
    def information(self) -> Floats:
        """On the difference of strengths, by the pair's own points; per nat^2."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nan_to_num(self.points.slope**2 / self.points.variance)

    @cached_property
    def log_odds(self) -> Floats:
        """By how much the pair's own difference departs from the fit's, in nats: one step of Newton's method."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nan_to_num(self.points.residual / self.points.slope)

    @cached_property
    def pearson(self) -> Floats:
        """Pearson's residuals: over the deviation of the points, leverage left in; 0 where untested."""
        scale = np.sqrt(np.where(self.is_tested, self.points.variance, 1.0))
        return np.where(self.is_tested, self.points.residual / scale, 0.0)

    @cached_property
    def is_tested(self) -> Mask:
        """Whether the fit leaves enough of the residual to see something."""
        return (self.rest > LEAST_REST) & (self.points.variance > 0)

    @cached_property
    def deviance_roots(self) -> Floats:
        """Signed roots of the deviance, with half a point's continuity correction; nearly normal.

        It is that of a binomial score, over the share of its variance that draws and colours
        leave. In the far tails, where many pairs are looked at, Pearson's residuals of lopsided
        pairs are no longer normal, and these are (Pierce & Schafer, Residuals in generalized
        linear models, 1986). The fit's leverage is not in it.
        """
        points = self.points
        games = np.maximum(points.games, 1.0)
        gap = np.maximum(np.abs(points.residual) - HALF_A_POINT, 0.0)
        p = np.clip(points.expected / games, 1e-12, 1 - 1e-12)
        x = np.clip(p + np.sign(points.residual) * gap / games, 0.0, 1.0)
        share = points.variance / (games * p * (1 - p))
        divergence = _times_log(x, x / p) + _times_log(1 - x, (1 - x) / (1 - p))
        with np.errstate(divide="ignore", invalid="ignore"):
            squares = np.nan_to_num(2 * games * divergence / share)
        return np.sign(points.residual) * np.sqrt(np.maximum(squares, 0.0))

    @cached_property
    def standardised(self) -> Floats:
        """The signed roots, over the deviation that the fit leaves them; 0 where nothing is tested."""
        rest = np.sqrt(np.maximum(self.rest, LEAST_REST))
        return np.where(self.is_tested, self.deviance_roots / rest, 0.0)


def _times_log(factor: Floats, ratio: Floats) -> Floats:
    """A factor times the logarithm of a ratio: 0 where both are."""
    return factor * np.log(np.where(factor > 0, ratio, 1.0))


def in_blocks(games: int, blocks: int) -> Integers:
    """The block of each game, in order, when all blocks are equal; shape (games,)."""
    return np.arange(games, dtype=np.int64) * blocks // max(games, 1)

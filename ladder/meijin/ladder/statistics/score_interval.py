"""The interval of a score: what share of the points some games were worth, and how surely."""

from math import sqrt

from meijin.ladder.statistics.fit.covariance import Z_95


def wilson_interval(points: float, games: int) -> tuple[float, float]:
    """The 95 % interval of the share of points in so many games, at least one.

    Wilson's score interval (Wilson, Probable inference, the law of succession, and statistical
    inference, 1927), in which no share is below 0 or above 1. It is that of a proportion: where
    points are shared it is wider than it need be.
    """
    share, square = points / games, Z_95**2 / games
    middle = (share + square / 2) / (1 + square)
    half = Z_95 * sqrt(share * (1 - share) / games + square / (4 * games)) / (1 + square)
    # Exact at 0 and 1, where rounding would leave the share outside.
    return min(max(0.0, middle - half), share), max(min(1.0, middle + half), share)

"""Overdispersion: how much more results scatter than games of independent luck would.

Clusters of games that may hang together are those of one opening, and of one pair.

Two variance components, estimated from products of two different games' scores, which are 0 on
average where the model holds: products within a cluster tell of both, those between the clusters of
a pair of the pair's effect alone. They are weighted as restricted likelihood would (Patterson &
Thompson 1971; between pairs that is the equation of Paule & Mandel, Consensus values and weighting
factors, 1982, with weights that trust pairs of few games less). What is expected of each product
takes account of the fit having followed the same games, its leverage (Bell & McCaffrey, Bias
reduction in standard errors for linear regression with multi-stage samples, 2002).
"""

import math
from dataclasses import dataclass, fields, replace

import numpy as np

from meijin.ladder.statistics.fit.bradley_terry import ELO_PER_NAT, Fit
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, numbered, sums


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Scores:
    """The scores of groups of games, all of shape (k,), in nats.

    The score of a game is the derivative of its log-likelihood by how much the one is the stronger:
    0 on average, with the game's information as its variance.
    """

    information: Floats
    """Expected of all games of a group: that of the results there were would tell of them."""
    score: Floats
    """The sum of the games' scores, from the side of the pair's first."""
    single: Floats
    """The sum of the squares of the games' scores: what the square of `score` would be if no two
    games had anything in common."""
    most_alike: Floats
    """What the variance of `score` is greater by if each cluster repeats one game."""
    squares: Floats
    """The sum of the squares of each game's information."""

    @property
    def shared(self) -> Floats:
        """What the variance of each score is greater by for an effect of variance 1 on all games.

        The sum of the products of two different games' information, in either order: an only game
        scatters no more for it.
        """
        return self.information**2 - self.squares


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Clusters(Scores):
    """The games of two players that began alike: same colours, same opening.

    Where openings are unknown, a cluster is all that two have played with the same colours.
    """

    pair: Integers
    """The place in the pairs."""
    games: Floats


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ClusteredPairs(Scores):
    """Each two who have met, whoever moved first."""

    clusters: Clusters
    first: Integers
    """Places in the fit; `first` < `second`."""
    second: Integers

    def sums(self, column: Floats) -> Floats:
        """The sums of a column of the clusters by pair."""
        return sums(self.clusters.pair, column, len(self.first))


def clustered_pairs(fit: Fit) -> ClusteredPairs:
    """The games of a fit by cluster and by pair, those with two who have met."""
    counts = fit.counts
    games = counts.wins + counts.draws + counts.losses
    played = games > 0
    first, second, games = counts.first[played], counts.second[played], games[played]
    wins, draws, losses = (column[played] for column in (counts.wins, counts.draws, counts.losses))
    win, loss = (chance[played] for chance in fit.wins_and_losses(counts))
    # A draw is a win and a loss at once.
    score = wins * (1 - win) + draws * (loss - win) - losses * (1 - loss)
    single = wins * (1 - win) ** 2 + draws * (loss - win) ** 2 + losses * (1 - loss) ** 2
    ends = np.minimum(first, second) * len(fit.players) + np.maximum(first, second)
    keys, pair = numbered(ends)
    information = games * (1 - win) * (1 - loss) * (win + loss)
    clusters = Clusters(
        pair=pair,
        games=games,
        information=information,
        score=np.where(first < second, score, -score),
        single=single,
        most_alike=information * (games - 1),
        squares=information**2 / games,
    )
    columns = (each.name for each in fields(Scores))
    totals = {name: sums(pair, getattr(clusters, name), len(keys)) for name in columns}
    first, second = np.divmod(keys, max(len(fit.players), 1))
    return ClusteredPairs(clusters=clusters, first=first, second=second, **totals)


ROUNDS = 100
"""Of reweighting, at most: a handful is enough as a rule."""
CLOSE = 1e-10
"""A round that changes no component more is the last."""
LEAST_INFORMATION = 0.05
"""Of a game, as a product of two games' scores is weighted: one upset of a game that was sure would
outweigh all others."""
PRIOR_CORRELATION = 0.5
"""Deviation of the prior of the correlation: normal around 0, and weak."""
PRIOR_PAIR_VARIANCE = (100 / ELO_PER_NAT) ** 2
"""Deviation of the prior of the pairs' variance. Without circles in who met whom, strengths explain
every pair, and games say nothing of it; then it is 0."""


@dataclass(frozen=True, slots=True)
class Overdispersion:
    """The variance components beyond independent games; both 0 where the model holds."""

    correlation: float
    """Of two results of one cluster, from 0 to 1, which says that all of them are the same: engines
    that repeat their games (Williams, Extra-binomial variation in logistic linear models, 1982)."""
    pair_variance: float
    """Of what a pairing adds to the difference of two strengths, who beats whom; in nats squared."""

    @property
    def pair_deviation(self) -> float:
        """The deviation of what a pairing adds to the difference of two strengths, in Elo."""
        return ELO_PER_NAT * math.sqrt(self.pair_variance)

    def excess(self, pairs: ClusteredPairs) -> Floats:
        """What the variance of each pair's score has beyond its information; shape (p,)."""
        return self.correlation * pairs.most_alike + self.pair_variance * pairs.shared


@dataclass(frozen=True, slots=True, eq=False)
class Leverage:
    """How far the fit follows each pair: variances of the difference of its two; shapes (p,)."""

    own: Floats
    """By games of independent luck; nats squared."""
    by_correlation: Floats
    """What a correlation of 1 adds."""
    by_pairs: Floats
    """What a variance of 1 between pairs adds."""

    def at(self, places: Integers) -> "Leverage":
        """That of the pairs at some places."""
        return Leverage(self.own[places], self.by_correlation[places], self.by_pairs[places])

    def bounded(self, information: Floats) -> "Leverage":
        """With no difference less sure than by the pair's own games, as unknown draws make some."""
        own = np.minimum(self.own, 1 / information)
        share = (own / self.own) ** 2
        return Leverage(own, share * self.by_correlation, share * self.by_pairs)


def overdispersion(pairs: ClusteredPairs, leverage: Leverage) -> Overdispersion:
    """Estimate the components of a fit, each at least 0.

    They depend on each other's weights, so both equations are solved again until nothing changes.
    """
    leverage = leverage.bounded(pairs.information)
    clusters = pairs.clusters
    # Errors have the covariance correlation h + variance h^2 between two games of the information
    # h. A score is the error less h times the fit's own error of the difference, which follows
    # from all games of the pair.
    single_alike = clusters.squares * (clusters.games - 1)
    whole = pairs.information[clusters.pair]
    within = _moments(clusters, leverage.at(clusters.pair), single_alike=single_alike, whole=whole)
    single_alike, whole = pairs.sums(single_alike), pairs.information
    between = _moments(pairs, leverage, single_alike=single_alike, whole=whole)
    found = Overdispersion(0.0, 0.0)
    for _ in range(ROUNDS):
        before = found
        one = within.equation(_cluster_weights(pairs, before))
        other = between.equation(_pair_weights(pairs, before))
        one = replace(one, by_correlation=one.by_correlation + 2 / PRIOR_CORRELATION**2)
        other = replace(other, by_pairs=other.by_pairs + 2 / PRIOR_PAIR_VARIANCE**2)
        found = _solve(one, other)
        change = found.correlation - before.correlation, found.pair_variance - before.pair_variance
        if max(map(abs, change)) < CLOSE:
            break
    return found


@dataclass(frozen=True, slots=True)
class _Equation:
    """One of the two: by_correlation * correlation + by_pairs * pair_variance = found."""

    by_correlation: float
    by_pairs: float
    found: float


@dataclass(frozen=True, slots=True, eq=False)
class _Moments:
    """Sums of products and what is expected of them, less what independent games would have."""

    found: Floats
    by_correlation: Floats
    by_pairs: Floats

    def equation(self, weights: Floats) -> _Equation:
        columns = (self.by_correlation, self.by_pairs, self.found)
        return _Equation(*(float(weights @ column) for column in columns))


def _moments(
    groups: Scores, leverage: Leverage, *, single_alike: Floats, whole: Floats
) -> _Moments:
    """Squares of scores, less their expectation by independent games, and how they would grow.

    Squares of single games are taken off as far as the fit leaves them in the score: they scatter,
    most of all the rare ones of an upset, and tell of no two games.
    """
    information, squares = groups.information, groups.squares
    own, by_correlation, by_pairs = leverage.own, leverage.by_correlation, leverage.by_pairs
    shared = groups.shared
    left = np.maximum(1 - own * information, 0.0) ** 2
    expected = information * (1 - own * information)
    return _Moments(
        found=groups.score**2 - expected - left * (groups.single - information + own * squares),
        by_correlation=groups.most_alike * (1 - 2 * own * information)
        + information**2 * by_correlation
        - left * (squares * by_correlation - 2 * own * single_alike),
        by_pairs=shared
        - 2 * own * information**2 * whole
        + 2 * own * information * squares
        + information**2 * by_pairs
        - left * squares * (by_pairs - 2 * own * whole),
    )


def _cluster_weights(pairs: ClusteredPairs, found: Overdispersion) -> Floats:
    """One over the variance, for what each cluster tells of the correlation."""
    clusters = pairs.clusters
    each = np.maximum(clusters.information / clusters.games, LEAST_INFORMATION)
    alike = (
        1 + found.correlation * (clusters.games - 1) + found.pair_variance * clusters.information
    )
    return (clusters.games > 1) / (each * alike**2)


def _pair_weights(pairs: ClusteredPairs, found: Overdispersion) -> Floats:
    """One over the variance, for what each pair tells of the pairs' variance."""
    variance = pairs.information + found.excess(pairs)
    return pairs.shared / variance**2


def _solve(one: _Equation, other: _Equation) -> Overdispersion:
    """Both components from both equations; what would be negative is 0, and the other alone."""
    determinant = one.by_correlation * other.by_pairs - one.by_pairs * other.by_correlation
    alone = max(_ratio(other.found, other.by_pairs), 0.0)
    if determinant <= 0:  # no cluster has two games
        return Overdispersion(0.0, alone)
    correlation = (one.found * other.by_pairs - one.by_pairs * other.found) / determinant
    variance = (one.by_correlation * other.found - one.found * other.by_correlation) / determinant
    if correlation <= 0:
        return Overdispersion(0.0, alone)
    if correlation > 1:
        variance = _ratio(other.found - other.by_correlation, other.by_pairs)
    elif variance < 0:
        correlation = max(_ratio(one.found, one.by_correlation), 0.0)
    return Overdispersion(min(correlation, 1.0), max(variance, 0.0))


def _ratio(above: float, below: float) -> float:
    return above / below if below > 0 else 0.0

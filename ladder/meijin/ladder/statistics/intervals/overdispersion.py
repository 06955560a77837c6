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
from dataclasses import dataclass, replace

import numpy as np

from meijin.ladder.statistics.fit.bradley_terry import ELO_PER_NAT, Fit
from meijin.ladder.statistics.fit.opening_effects import effect_of_rows
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, sums


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """The games of two players that began alike: same colours, same opening; shapes (k,).

    Where openings are unknown, a cluster is all that two have played with the same colours. The
    score of a game is the derivative of its log-likelihood by how much the one is the stronger: 0
    on average, with the game's information as its variance. All is in nats.
    """

    pair: Integers
    """The place in the pairs."""
    games: Floats
    information: Floats
    """Expected of all games of the cluster: that of the results there were would tell of them."""
    score: Floats
    """The sum of the games' scores, from the side of the pair's first."""
    single: Floats
    """The sum of the squares of the games' scores: what the square of `score` would be if no two
    games had anything in common."""

    @property
    def most_alike(self) -> Floats:
        """What the variance of each score is greater by if all games of a cluster are the same."""
        extra: Floats = self.information * (self.games - 1)
        return extra

    @property
    def squares(self) -> Floats:
        """The sum of the squares of each game's information."""
        squares: Floats = self.information**2 / self.games
        return squares


@dataclass(frozen=True, slots=True, eq=False)
class ClusteredPairs:
    """Each two who have met, whoever moved first; shapes (p,)."""

    clusters: Clusters
    first: Integers
    """Places in the fit; `first` < `second`."""
    second: Integers
    information: Floats
    """Expected of all games of the pair."""
    score: Floats
    """The sum of the games' scores, from the side of `first`."""
    single: Floats
    """The sum of the squares of the games' scores."""
    most_alike: Floats
    """What the variance of the pair's score is greater by if each cluster repeats one game."""
    squares: Floats
    """The sum of the squares of each game's information."""

    @property
    def shared(self) -> Floats:
        """What the variance of each score is greater by for an effect of variance 1 on all games.

        The sum of the products of two different games' information, in either order: an only game
        scatters no more for it.
        """
        shared: Floats = self.information**2 - self.squares
        return shared

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
    effects = effect_of_rows(counts, fit.openings, fit.opening_elo)[played]
    difference = fit.elo[first] - fit.elo[second] + effects
    chances = fit.chances(first, second)
    win, loss = chances.wins(difference), chances.losses(difference)
    # A draw is a win and a loss at once.
    score = wins * (1 - win) + draws * (loss - win) - losses * (1 - loss)
    single = wins * (1 - win) ** 2 + draws * (loss - win) ** 2 + losses * (1 - loss) ** 2
    ends = np.sort((first, second), axis=0)
    keys, pair = np.unique(ends[0] * len(fit.players) + ends[1], return_inverse=True)
    clusters = Clusters(
        pair=pair,
        games=games,
        information=games * (1 - win) * (1 - loss) * (win + loss),
        score=np.where(first < second, score, -score),
        single=single,
    )
    return _by_pair(clusters, *np.divmod(keys, max(len(fit.players), 1)))


def _by_pair(clusters: Clusters, first: Integers, second: Integers) -> ClusteredPairs:
    def total(column: Floats) -> Floats:
        return sums(clusters.pair, column, len(first))

    information = total(clusters.information)
    return ClusteredPairs(
        clusters=clusters,
        first=first,
        second=second,
        information=information,
        score=total(clusters.score),
        single=total(clusters.single),
        most_alike=total(clusters.most_alike),
        squares=total(clusters.squares),
    )


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
        excess: Floats = self.correlation * pairs.most_alike + self.pair_variance * pairs.shared
        return excess


@dataclass(frozen=True, slots=True, eq=False)
class Leverage:
    """How far the fit follows each pair: variances of the difference of its two; shapes (p,)."""

    own: Floats
    """By games of independent luck; nats squared."""
    by_correlation: Floats
    """What a correlation of 1 adds."""
    by_pairs: Floats
    """What a variance of 1 between pairs adds."""

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
    within, between = _within_clusters(pairs, leverage), _within_pairs(pairs, leverage)
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
        """The weighted sums."""
        columns = (self.by_correlation, self.by_pairs, self.found)
        return _Equation(*(float(weights @ column) for column in columns))


def _within_clusters(pairs: ClusteredPairs, leverage: Leverage) -> _Moments:
    """What the clusters' scores have beyond independent games.

    With errors of covariance correlation h + variance h^2 between two games of the information h.
    A score is the error less h times the fit's own error of the difference, which follows from all
    games of the pair.
    """
    clusters = pairs.clusters
    own, by_correlation, by_pairs, whole = (
        column[clusters.pair]
        for column in (
            leverage.own,
            leverage.by_correlation,
            leverage.by_pairs,
            pairs.information,
        )
    )
    return _moments(
        clusters,
        Leverage(own, by_correlation, by_pairs),
        single_alike=clusters.squares * (clusters.games - 1),
        whole=whole,
    )


def _within_pairs(pairs: ClusteredPairs, leverage: Leverage) -> _Moments:
    """What the pairs' scores have beyond independent games."""
    clusters = pairs.clusters
    single_alike = pairs.sums(clusters.squares * (clusters.games - 1))
    return _moments(pairs, leverage, single_alike=single_alike, whole=pairs.information)


def _moments(
    groups: Clusters | ClusteredPairs, leverage: Leverage, *, single_alike: Floats, whole: Floats
) -> _Moments:
    """Squares of scores, less their expectation by independent games, and how they would grow.

    Squares of single games are taken off as far as the fit leaves them in the score: they scatter,
    most of all the rare ones of an upset, and tell of no two games.
    """
    information, squares = groups.information, groups.squares
    own, by_correlation, by_pairs = leverage.own, leverage.by_correlation, leverage.by_pairs
    shared = information**2 - squares
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
    weights: Floats = (clusters.games > 1) / (each * alike**2)
    return weights


def _pair_weights(pairs: ClusteredPairs, found: Overdispersion) -> Floats:
    """One over the variance, for what each pair tells of the pairs' variance."""
    variance = pairs.information + found.excess(pairs)
    weights: Floats = pairs.shared / variance**2
    return weights


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

"""Overdispersion: how much more results scatter than games of independent luck would.

Two variance components beyond luck: a correlation of games that began alike, with the same colours
on the same opening, and an effect of each pair. They are estimated from products of two different
games' scores, which are 0 on average where the model holds: products within a cluster of games that
began alike tell of both, those between the clusters of a pair of the pair's effect alone. They are
weighted as restricted likelihood would (Patterson & Thompson 1971; between pairs that is the
equation of Paule & Mandel, Consensus values and weighting factors, 1982, with weights that trust
pairs of few games less). What is expected of each product takes account of the fit having followed
the same games, its leverage (Bell & McCaffrey, Bias reduction in standard errors for linear
regression with multi-stage samples, 2002), and of the opening that games share.

In most pools neither component is there, and what luck makes of them is no reason for wider
intervals: each has a spike at 0 in its prior, beside a slab (Mitchell & Beauchamp, Bayesian variable
selection in linear regression, 1988). What is used is the estimate times the chance of the slab.
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
    by_opening: Floats
    """What the variance of `score` is greater by for the openings that games share."""
    most_alike: Floats
    """What it is greater by if each cluster repeats one game."""
    squares: Floats
    """The sum of the squares of each game's information."""

    @property
    def variance(self) -> Floats:
        """Of each score, where neither component is there."""
        return self.information + self.by_opening

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
    times: Floats
    """How many there are of each."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ClusteredPairs(Scores):
    """Each two who have met, whoever moved first."""

    clusters: Clusters
    first: Integers
    """Places in the fit; `first` < `second`."""
    second: Integers

    def sums(self, column: Floats) -> Floats:
        """The sums of a column of the clusters by pair."""
        return sums(self.clusters.pair, self.clusters.times * column, len(self.first))


NO_CHANCE = 1e-12
"""Stands for 0 in a denominator."""


@dataclass(frozen=True, slots=True, eq=False)
class _Games:
    """The games of each row of a fit's units, from the side of who moves first."""

    information: Floats
    """Of one of them."""
    score: Floats
    single: Floats
    by_opening: Floats
    """The mean of one's score, by effects of an opening; shape (effects, rows)."""
    weights: Floats
    """Of these effects."""

    @classmethod
    def of(cls, fit: Fit) -> "_Games":
        counts = fit.games.units.counts
        chances = fit.chances(counts.first, counts.second)
        wins, losses, weights = chances.by_opening(fit.elo[counts.first] - fit.elo[counts.second])
        draws = np.maximum(1 - wins - losses, NO_CHANCE)
        by_win, by_loss = weights @ (wins * (1 - wins)), -weights @ (losses * (1 - losses))
        win, loss = by_win / (weights @ wins), by_loss / (weights @ losses)
        draw = -(by_win + by_loss) / (weights @ draws)
        return cls(
            information=by_win * (win - draw) + by_loss * (loss - draw),
            score=counts.wins * win + counts.losses * loss + counts.draws * draw,
            single=counts.wins * win**2 + counts.losses * loss**2 + counts.draws * draw**2,
            by_opening=wins * win + losses * loss + draws * draw,
            weights=weights,
        )

    def in_common(self, one: Integers, other: Integers) -> Floats:
        """The covariance of a game of each of one's rows and one of the other's, by their opening."""
        if len(self.weights) == 1:
            return np.zeros(len(one))
        common: Floats = self.weights @ (self.by_opening[:, one] * self.by_opening[:, other])
        return common


def clustered_pairs(fit: Fit) -> ClusteredPairs:
    """The games of a fit by cluster and by pair, those with two who have met."""
    units, players = fit.games.units, max(len(fit.players), 1)
    counts, found = units.counts, _Games.of(fit)
    games, rows = counts.wins + counts.draws + counts.losses, np.arange(len(counts.first))
    low, high = np.minimum(counts.first, counts.second), np.maximum(counts.first, counts.second)
    keys, pair = numbered(low * players + high)
    others = games * (games - 1)
    clusters = Clusters(
        pair=pair,
        games=games,
        times=units.row_times,
        information=games * found.information,
        score=np.where(counts.first < counts.second, found.score, -found.score),
        single=found.single,
        by_opening=others * found.in_common(rows, rows),
        most_alike=others * found.information,
        squares=games * found.information**2,
    )
    columns = (each.name for each in fields(Scores))
    totals = {
        name: sums(pair, clusters.times * getattr(clusters, name), len(keys)) for name in columns
    }
    turned = np.flatnonzero(units.signs < 0)  # its row before has the unit's other colour
    opposed = np.zeros(len(rows))
    opposed[turned] = games[turned] * games[turned - 1] * found.in_common(turned, turned - 1)
    totals["by_opening"] -= 2 * sums(pair, clusters.times * opposed, len(keys))
    first, second = np.divmod(keys, players)
    return ClusteredPairs(clusters=clusters, first=first, second=second, **totals)


ROUNDS = 100
"""Of reweighting, at most: a handful is enough as a rule."""
CLOSE = 1e-10
"""A round that changes no component more is the last."""
LEAST_INFORMATION = 0.05
"""Of a game, as a product of two games' scores is weighted: one upset of a game that was sure would
outweigh all others."""
CORRELATION_SLAB = 0.5
"""The deviation of the correlation where there is one: normal around 0, and weak."""
PAIR_SLAB = (100 / ELO_PER_NAT) ** 2
"""The same of the pairs' variance. Without circles in who met whom, strengths explain every pair,
and games say nothing of it; then it is 0."""
SINGULAR = 1e-6
"""A share of what the determinant of two equations might be, below which they are one."""
LEAST_LEFT = 1e-6
"""A share of a score's variance: what seems to be left of it below that is rounding, and the fit
follows those games whatever they are."""
SPIKE = 0.9
"""The chance that a component is not there, before games tell."""
SURE = 3.0
"""Deviations above 0 from which a component is named: in 0.1 % of large pools without it."""


@dataclass(frozen=True, slots=True)
class Overdispersion:
    """The variance components beyond independent games; both 0 where the model holds."""

    correlation: float
    """Of two results of one cluster, from 0 to 1, which says that all of them are the same: engines
    that repeat their games (Williams, Extra-binomial variation in logistic linear models, 1982)."""
    pair_variance: float
    """Of what a pairing adds to the difference of two strengths, who beats whom; in nats squared."""
    correlation_is_sure: bool = False
    """Surer than chance; likewise below."""
    pair_deviation_is_sure: bool = False

    @property
    def pair_deviation(self) -> float:
        """The deviation of what a pairing adds to the difference of two strengths, in Elo."""
        return ELO_PER_NAT * math.sqrt(self.pair_variance)

    def excess(self, pairs: ClusteredPairs) -> Floats:
        """What the variance of each pair's score has beyond its information; shape (p,)."""
        return self.correlation * pairs.most_alike + self.pair_variance * pairs.shared


NOTHING = Overdispersion(0.0, 0.0)


def overdispersion(pairs: ClusteredPairs, own: Floats) -> Overdispersion:
    """Estimate the components of a fit, each at least 0.

    They depend on each other's weights, so both equations are solved again until nothing changes.

    Args:
        pairs: Those of the fit.
        own: The variance of the difference of each two, by the fit: how far it follows them, in
            nats squared; shape (p,).
    """
    # No difference is less sure than by the pair's own games, as unknown draws make some.
    own = np.minimum(own, 1 / pairs.information)
    within = _moments(pairs.clusters, own[pairs.clusters.pair])
    between = _moments(pairs, own)
    found = NOTHING
    for _ in range(ROUNDS):
        before = found
        one = within.equation(_cluster_weights(pairs, before))
        found = _solve(one, between.equation(_pair_weights(pairs, before)))
        change = found.correlation - before.correlation, found.pair_variance - before.pair_variance
        if max(map(abs, change)) < CLOSE:
            break
    only_pairs, only_clusters = replace(found, correlation=0.0), replace(found, pair_variance=0.0)
    by_correlation, _ = _evidence(pairs, (within, between), beside=only_pairs)
    _, by_pairs = _evidence(pairs, (within, between), beside=only_clusters)
    return Overdispersion(
        correlation=by_correlation.chance(CORRELATION_SLAB) * found.correlation,
        pair_variance=by_pairs.chance(PAIR_SLAB) * found.pair_variance,
        correlation_is_sure=by_correlation.deviations > SURE,
        pair_deviation_is_sure=by_pairs.deviations > SURE,
    )


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What speaks for a component."""

    deviations: float
    """Of its estimate above 0: standard normal where it is not there."""
    error: float
    """The deviation of the estimate by luck."""

    def chance(self, slab: float) -> float:
        """That the component is there, by Bayes's factor of a half-normal slab against the spike."""
        if not self.error:
            return 0.0
        wide = 1 / (1 + (self.error / slab) ** 2)
        peak = self.deviations * math.sqrt(wide)
        odds = 2 * math.sqrt(1 - wide) * math.exp(min(peak**2 / 2, 300.0))
        odds *= (1 - SPIKE) / SPIKE * math.erfc(-peak / math.sqrt(2)) / 2
        return odds / (1 + odds)


NO_EVIDENCE = _Evidence(0.0, 0.0)


def _evidence(
    pairs: ClusteredPairs, moments: tuple["_Moments", "_Moments"], *, beside: Overdispersion
) -> tuple[_Evidence, _Evidence]:
    """For both components, each with the other one taken off.

    The products of independent scores have the variance of twice what two games share. Sums of
    squares of few scores are skew as chi-square is, so the deviations are those of its cube root
    (Wilson & Hilferty, The distribution of chi-square, 1931).

    Args:
        beside: What there is beside the one that is looked for.
    """
    clusters, (within, between) = pairs.clusters, moments
    weights = _cluster_weights(pairs, beside), _pair_weights(pairs, beside)
    alike = weights[0] * within.left * _growth(clusters, beside)
    paired = weights[1] * between.left * (1 + beside.excess(pairs) / pairs.information)
    equations = [moment.equation(weight) for moment, weight in zip(moments, weights, strict=True)]
    matrix = np.array([(each.by_correlation, each.by_pairs) for each in equations])
    common = clusters.times * alike * clusters.shared
    covariance = np.empty((2, 2))
    covariance[0, 0] = 2 * float(common @ alike)
    covariance[1, 1] = 2 * float((paired**2) @ pairs.shared)
    covariance[0, 1] = covariance[1, 0] = 2 * float(common @ paired[clusters.pair])
    squares = float((clusters.times * alike) @ clusters.variance), float(paired @ pairs.variance)
    known = [place for place in (0, 1) if covariance[place, place] > 0 and matrix[place, place] > 0]
    if (
        len(known) == len(equations)
        and np.linalg.det(matrix) <= SINGULAR * matrix.diagonal().prod()
    ):
        known = [1]  # clusters say the same of both
    evidence = [NO_EVIDENCE, NO_EVIDENCE]
    if known:
        inverse = np.linalg.inv(matrix[np.ix_(known, known)])
        estimates = inverse @ np.array([equations[place].found for place in known])
        errors = np.sqrt(np.diagonal(inverse @ covariance[np.ix_(known, known)] @ inverse.T))
        for place, estimate, error in zip(known, estimates.tolist(), errors.tolist(), strict=True):
            freedom = 2 * squares[place] ** 2 / float(covariance[place, place])
            evidence[place] = _Evidence(_normal(estimate / error, freedom), error)
    return evidence[0], evidence[1]


def _growth(clusters: Clusters, found: Overdispersion) -> Floats:
    """How many times as much the score of each cluster varies."""
    return 1 + found.correlation * (clusters.games - 1) + found.pair_variance * clusters.information


def _normal(deviations: float, freedom: float) -> float:
    """The deviations of a normal variable that is as unlikely as a chi-square one's."""
    spread = 2 / (9 * freedom)
    root = math.cbrt(max(1 + deviations * math.sqrt(2 / freedom), 0.0))
    return (root - 1 + spread) / math.sqrt(spread)


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
    left: Floats
    """The share of the scores' variance that the fit leaves."""
    times: Floats

    def equation(self, weights: Floats) -> _Equation:
        columns = (self.by_correlation, self.by_pairs, self.found)
        return _Equation(*(float((self.times * weights) @ column) for column in columns))


def _moments(groups: Scores, own: Floats) -> _Moments:
    """Squares of scores, less their expectation by independent games, and how they would grow.

    A score is the games' own less the information times the fit's error of the difference. Squares of
    single games are taken off as far as the fit leaves them in the score: they scatter, most of
    all the rare ones of an upset, and tell of no two games.
    """
    left = 1 - own * groups.information
    left[left < LEAST_LEFT] = 0.0
    single = left**2 * (groups.single - groups.information + own * groups.squares)
    return _Moments(
        found=groups.score**2 - left * groups.variance - single,
        by_correlation=groups.most_alike * left,
        by_pairs=groups.shared * left,
        left=left,
        times=groups.times if isinstance(groups, Clusters) else np.ones(len(left)),
    )


def _cluster_weights(pairs: ClusteredPairs, found: Overdispersion) -> Floats:
    """One over the variance, for what each cluster tells of the correlation."""
    clusters = pairs.clusters
    each = np.maximum(clusters.information / clusters.games, LEAST_INFORMATION)
    return (clusters.games > 1) / (each * _growth(clusters, found) ** 2)


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

"""When a ranking is sure enough to stop: a rule that may be looked at after every game."""

import math
from dataclasses import dataclass

import numpy as np

from meijin.ladder.statistics.fit.bradley_terry import Prior
from meijin.ladder.statistics.fit.covariance import NO_VARIANCE, Covariance, normal_cdf
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, Mask

START_VARIANCE = 2 * Prior().strength ** 2
"""Of a difference's error before the first game, in Elo squared."""
START_Z = 3.0
STEPS = 4
"""Of the fixed point that finds how many deviations a sure lead has: it is exact to a hundredth."""


def error_bounds(lead: Floats, variance: Floats, zone: float = 0.0) -> Floats:
    """The chance that a leader weaker by the zone is ever seen as far ahead, at all looks so far.

    The lead beyond "weaker by just the zone", over its deviation, is z. As games come in it goes
    like a stationary Gaussian process (Ornstein-Uhlenbeck) in the logarithm of the information,
    the reciprocal of the variance, whose chance to have been as high at some time is about

        Phi(-z) + z / 2 phi(z) log(v_0 / v)

    (Siegmund, Sequential analysis, 1985, chapter 4), where v_0 is the variance before the first
    game. The estimates of one difference from the growing log of games have the independent
    increments that this needs (Scharfstein, Tsiatis & Robins, Semiparametric efficiency and its
    implication on the design and analysis of group-sequential studies, 1997).

    Args:
        lead: In Elo, not below 0; any shape.
        variance: Of the lead's error, in Elo squared; the same shape.
        zone: In Elo.
    """
    variance = np.maximum(variance, NO_VARIANCE)
    z = (lead + zone) / np.sqrt(variance)
    time = np.maximum(np.log(START_VARIANCE / variance), 0.0)
    density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    bounds: Floats = normal_cdf(-z) + z / 2 * density * time
    return np.minimum(bounds, 1.0)


@dataclass(frozen=True, slots=True)
class OrderConfidence:
    """How sure a ranking is."""

    confidence: float
    """At least this chance that nothing that the rule asks for is wrong, 0 to 1."""
    ahead: int
    """Of the pair that is least sure, the player that ranks higher."""
    behind: int
    lead: float
    """By how many Elo it is ahead."""
    deviation: float
    """Of the lead's error, in Elo."""


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """What has to be sure of a ranking, at every look: the whole order, or who the first of it are.

    Of two players, the one that is ahead may in truth be the weaker by more than the indifference
    zone (Bechhofer, A single-sample multiple decision procedure for ranking means, 1954).
    `error_bounds` says how likely results like these are to be seen then at one of all looks so far,
    and the rule adds the bounds of all pairs that it asks for (Bonferroni): of the whole order, or of
    the top k (Kalyanakrishnan, Tewari, Auer & Stone, PAC subset selection in stochastic multi-armed
    bandits, 2012).

    The posterior alone would be right on average over pools drawn from its prior, however often one
    looks. But of two who are really 12 Elo apart it stops with the wrong order in 23 of 100 cases at
    0.95, since a lead of 1.64 deviations comes by luck at some look: see benchmarks/stopping.py.
    """

    confidence: float
    """The chance wanted that nothing is wrong, above 0 and below 1."""
    zone: float = 0.0
    """The indifference zone: in a wrong order of two so much or less apart nothing is wrong; Elo.

    Without one, two who are equal are never settled.
    """
    top: int = 0
    """How many are asked for as the first, in any order among themselves; 0 for the whole order."""

    def asks(self, ahead: Integers, behind: Integers) -> Mask:
        """Whether two ranks have to be told apart, the better one first; both broadcast.

        In a whole order without a zone these are neighbours: if each is stronger than the next,
        the order is right. With a zone the small differences of neighbours may add up.
        """
        asked: Mask = ahead < behind
        if self.top:
            asked = (ahead < self.top) & (behind >= self.top)
        elif not self.zone:
            asked = ahead + 1 == behind
        return asked

    def wanted_variance(self, lead: Floats, pairs: int) -> Floats:
        """The variance at which a lead is sure, where each of so many pairs may be as doubtful.

        Solves `error_bounds` for its second term, which is nearly all of it, in a few steps.

        Args:
            lead: In Elo, above 0; any shape.
            pairs: How many the rule asks for.
        """
        risk = (1 - self.confidence) / pairs * math.sqrt(2 * math.pi)
        reach = lead + self.zone
        z = np.full(reach.shape, START_Z)
        for _ in range(STEPS):
            time = np.maximum(np.log(START_VARIANCE * (z / reach) ** 2), 1.0)
            z = np.sqrt(2 * np.log(np.maximum(z / 2 * time / risk, math.e)))
        wanted: Floats = (reach / z) ** 2
        return wanted

    def judge(self, elo: Floats, covariance: Covariance) -> OrderConfidence | None:
        """How sure it is of a ranking by `elo`; ``None`` where there is nothing to tell apart.

        Args:
            elo: Shape (n,).
            covariance: Of `elo`, by results alone: expected games settle nothing.
        """
        order = np.argsort(-elo, kind="stable")
        asked = self.asks(*np.ogrid[: len(order), : len(order)])
        ahead, behind = (order[ranks] for ranks in np.nonzero(asked))
        if not len(ahead):
            return None
        lead, variance = elo[ahead] - elo[behind], covariance.of_differences(ahead, behind)
        bounds = error_bounds(lead, variance, self.zone)
        weakest = int(np.argmax(bounds))
        return OrderConfidence(
            confidence=max(0.0, 1 - float(bounds.sum())),
            ahead=int(ahead[weakest]),
            behind=int(behind[weakest]),
            lead=float(lead[weakest]),
            deviation=float(np.sqrt(variance[weakest])),
        )

    def is_met(self, found: OrderConfidence | None) -> bool:
        return found is not None and found.confidence >= self.confidence

"""Estimates after a sequential test that has stopped itself.

A test stops where its results look decided. Taken for a match of a fixed length they overstate
the advantage, and their 95 % interval holds it in 76 to 91 % of cases. Here an estimate is judged
by all that the test might have come to: its interval has the advantages under which a result as
far out, and one as far in, has a chance of 2.5 % or more, and the estimate is the advantage under
which either has one half (median-unbiased). Results are ordered by the bound and then by the mean
score at the stop, which for a Brownian motion is the order of the time it took (Siegmund,
Estimation following sequential tests, 1978; Tsiatis, Rosner and Mehta, Exact confidence intervals
following a group sequential test, 1984; Emerson and Fleming, Parameter estimation following group
sequential hypothesis testing, 1990).

What else might have come is known from the results themselves, tilted to other advantages
(Chuang and Lai, Hybrid resampling methods for confidence intervals, 2000): the test is played again
and again with them. Of many results it is looked at after several at once, between bounds moved
inward by what such a step goes further past them than one result does (Siegmund, Corrected
diffusion approximations in certain random walk problems, 1979).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from meijin.ladder.statistics.fit.pair_counts import Floats, Integers
from meijin.ladder.statistics.sequential.sprt import (
    Decision,
    Estimate,
    Scale,
    Sprt,
    elo_of_score,
    elo_per_deviation,
    expected_score,
    likelihood_ratios,
    moments,
)

LOOKS = 40
"""The most that there are at a run until it is as long as the test was."""
SMOOTHING = 0.25
"""Added to each count: what has not been seen in a dozen results may yet come."""
RUNS = 250
"""Of a test, from each of three proposals; more move an end by less than its error."""
PROPOSALS = (-1.8, 0.0, 1.8)
"""Where the runs are drawn from: deviations of the mean score around that of the results."""
LOOKAHEAD = 6
"""Looks after which runs are left off that have not stopped: they are less extreme."""
BLOCK = 6
"""Looks of a run that are had at once: one alone costs as much as 500 rows."""
OVERSHOOT = 0.5826
"""The mean overshoot of a random walk's maximum, in deviations of its steps: -zeta(1/2) / sqrt(2 pi)."""
SEED = 1978
REACH = 8.0
"""Deviations around the results within which the interval lies."""
HALVINGS = 20
TIE = 1e-9
"""Mean scores that differ by less are equal."""
QUANTILES = (0.025, 0.5, 0.975)

Chance = Callable[[float], float]
"""By the slope of a tilt: the chance of results that are as high as those of the test, or higher."""


def estimate_of(test: Sprt, counts: Sequence[float]) -> Estimate:
    """What a test's counts say, with a 95 % interval: plainly before it is decided.

    Then it is the median-unbiased estimate. Equal counts give equal numbers.

    Args:
        test: As it was played: with a look after each result that it counts.
        counts: Of games or of pairs, from the worst result to the best; at the stop, if there was one.
    """
    decision = test.decide(test.llr(counts))
    if decision is Decision.UNDECIDED:
        return Estimate.of(counts)
    return _stopped_estimate(test, tuple(counts), is_above=decision is Decision.H1_ACCEPTED)


@lru_cache(maxsize=256)
def _stopped_estimate(test: Sprt, counts: tuple[float, ...], *, is_above: bool) -> Estimate:
    if is_above:
        return _estimate_above(test, counts)
    turned = Sprt(-test.elo1, -test.elo0, alpha=test.beta, beta=test.alpha, scale=test.scale)
    found = _estimate_above(turned, counts[::-1])
    return replace(
        found,
        elo=-found.elo,
        elo_low=-found.elo_high,
        elo_high=-found.elo_low,
        normalised_elo=-found.normalised_elo,
        normalised_low=-found.normalised_high,
        normalised_high=-found.normalised_low,
        los=1 - found.los,
    )


def _estimate_above(test: Sprt, counts: Sequence[float]) -> Estimate:
    """Where `elo1` was accepted."""
    family, count = Tilts.of(counts), sum(counts)
    chance = _chance(test, family, np.array(counts))
    reach = REACH / (family.deviation * math.sqrt(count))
    slopes = [_root(chance, quantile, reach, HALVINGS) for quantile in QUANTILES]
    elo_low, elo, elo_high = (elo_of_score(family.mean(slope)) for slope in slopes)
    low, normalised, high = (family.normalised_elo(slope) for slope in slopes)
    return Estimate(
        elo=elo,
        elo_margin=(elo_high - elo_low) / 2,
        elo_low=elo_low,
        elo_high=elo_high,
        normalised_elo=normalised,
        normalised_margin=(high - low) / 2,
        normalised_low=low,
        normalised_high=high,
        los=1 - chance(family.slope_of_mean(0.5)),
        is_sequential=True,
    )


def _root(rising: Callable[[float], float], wanted: float, reach: float, halvings: int) -> float:
    """Where a rising function has a value, by bisection."""
    low, high = -reach, reach
    for _ in range(halvings):
        middle = (low + high) / 2
        if rising(middle) < wanted:
            low = middle
        else:
            high = middle
    return (low + high) / 2


@dataclass(frozen=True, slots=True, eq=False)
class Tilts:
    """Distributions of a result, from the one seen by exponential tilts (Efron 1981).

    Nonparametric standard errors and confidence intervals, section 11: each score's share is
    multiplied by e^(slope x score), so that a higher slope is a higher mean.
    """

    scores: Floats
    """Above a half; shape (k,)."""
    shares: Floats
    """At the slope 0; sum 1; shape (k,)."""

    @classmethod
    def of(cls, counts: Sequence[float]) -> "Tilts":
        """Around the results of counts, from the worst to the best."""
        smooth = np.asarray(counts) + SMOOTHING
        return cls(np.linspace(-0.5, 0.5, len(smooth)), smooth / smooth.sum())

    def tilted(self, slope: float) -> Floats:
        """The distribution of a slope; shape (k,)."""
        weights = self.shares * np.exp(slope * self.scores - abs(slope) / 2)
        shares: Floats = weights / weights.sum()
        return shares

    def log_moment(self, slope: float) -> float:
        exponents = slope * self.scores - abs(slope) / 2
        return math.log(float(self.shares @ np.exp(exponents))) + abs(slope) / 2

    def mean(self, slope: float) -> float:
        return 0.5 + float(self.tilted(slope) @ self.scores)

    @property
    def deviation(self) -> float:
        """Of a result's score, at the slope 0."""
        return moments(self.tilted(0.0), self.scores)[1]

    def normalised_elo(self, slope: float) -> float:
        """The advantage in normalised Elo."""
        mean, deviation = moments(self.tilted(slope), self.scores)
        return mean / deviation * elo_per_deviation(len(self.scores))

    def slope_of_mean(self, wanted: float) -> float:
        """The slope with a mean score, by bisection."""
        return _root(self.mean, wanted, 8 * REACH, 2 * HALVINGS)


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Runs of a test to their stops; shapes (runs,)."""

    lengths: Integers
    totals: Floats
    """Sums of the scores above a half."""
    has_won: NDArray[np.bool_]
    """Whether `elo1` was accepted; not where `elo0` was, nor where the test did not stop."""

    @property
    def means(self) -> Floats:
        """Mean scores above a half at the stop."""
        return self.totals / self.lengths


def _chance(test: Sprt, family: Tilts, counts: Floats) -> Chance:
    """By runs of the test from three tilts, weighted for the others.

    Such a weight depends on a run's length and points alone (importance sampling from a mixture;
    Owen and Zhou, Safe and effective importance sampling, 2000).
    """
    count = float(counts.sum())
    mean = 0.5 + float(counts @ family.scores) / count
    error = family.deviation / math.sqrt(count)
    middle = min(max(mean, 0.05), 0.95)
    means = [min(max(middle + place * error, 0.03), 0.97) for place in PROPOSALS]
    slopes = [family.slope_of_mean(mean) for mean in means]
    runs = _play(test, family, slopes, count)
    proposed = _log_mean([_log_weight(family, runs, slope) for slope in slopes])
    lead = runs.means - (mean - 0.5)
    extreme = runs.has_won * np.where(np.abs(lead) < TIE, 0.5, lead > 0)

    def chance(slope: float) -> float:
        weights = np.exp(_log_weight(family, runs, slope) - proposed)
        return float(weights @ extreme) / float(weights.sum())

    return chance


def _log_weight(family: Tilts, runs: Runs, slope: float) -> Floats:
    """The logarithm of each run's likelihood under a tilt, relative to none."""
    return slope * runs.totals - runs.lengths * family.log_moment(slope)


def _log_mean(logarithms: Sequence[Floats]) -> Floats:
    stacked = np.stack(logarithms)
    largest = stacked.max(axis=0)
    mean: Floats = largest + np.log(np.exp(stacked - largest).mean(axis=0))
    return mean


def _play(test: Sprt, family: Tilts, slopes: Sequence[float], count: float) -> Runs:
    """Play a test `RUNS` times from each of some tilts, by equal luck."""
    step = math.ceil(count / LOOKS)
    looks = math.ceil(count / step) + LOOKAHEAD
    drawn = [
        np.random.default_rng(SEED).multinomial(step, family.tilted(slope), (RUNS, looks))
        for slope in slopes
    ]
    results = np.concatenate(drawn)
    inward = OVERSHOOT * _step_deviation(test, family) * (math.sqrt(step) - 1)
    counts = np.zeros((len(results), results.shape[2]), dtype=np.int64)
    signs, going = np.zeros(len(results), dtype=np.int64), np.arange(len(results))
    for start in range(0, looks, BLOCK):
        path = counts[going, None] + np.cumsum(results[going, start : start + BLOCK], axis=1)
        found = _signs(test, path.reshape(-1, path.shape[2]), inward).reshape(path.shape[:2])
        place = np.where(found.any(axis=1), (found != 0).argmax(axis=1), path.shape[1] - 1)
        rows = np.arange(len(going))
        counts[going], signs[going] = path[rows, place], found[rows, place]
        going = going[signs[going] == 0]
        if not len(going):
            break
    return Runs(counts.sum(axis=1), counts @ family.scores, signs > 0)


def _step_deviation(test: Sprt, family: Tilts) -> float:
    """Of what one result adds to the ratio, which is nearly that of two normal distributions."""
    if test.scale is Scale.NORMALISED:
        return (test.elo1 - test.elo0) / elo_per_deviation(len(family.scores))
    return (expected_score(test.elo1) - expected_score(test.elo0)) / family.deviation


def _signs(test: Sprt, counts: Integers, inward: float) -> Integers:
    """What counts decide, row by row; equal ones are looked at once.

    Args:
        inward: How far the bounds are moved.
    """
    different, places = _unique(counts)
    ratios = likelihood_ratios(test, different)
    above, below = ratios >= test.upper - inward, ratios <= test.lower + inward
    return (above.astype(np.int64) - below)[places]


def _unique(counts: Integers) -> tuple[Integers, NDArray[np.intp]]:
    """The different rows, and the place of each row among them."""
    keys = counts @ (int(counts.max()) + 1) ** np.arange(counts.shape[1])
    _, rows, places = np.unique(keys, return_index=True, return_inverse=True)
    return counts[rows], places

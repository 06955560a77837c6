"""Log-likelihood ratios of a sequential test for many counts at once.

They are those of `Sprt.llr`, whose loops take a millisecond for each: here it is some ten
microseconds, since the multipliers of all rows are found together. Their path is near a Brownian
motion with drift, whose first passage between two absorbing bounds is known.
"""

import math

import numpy as np

from meijin.ladder.statistics.fit.pair_counts import Floats, Integers
from meijin.ladder.statistics.sequential.sprt import NORMALISED_ELO, PAIRS, PSEUDOCOUNT, Scale, Sprt

MAX_STEPS = 60
MAX_REWEIGHTINGS = 30
TOLERANCE = 1e-6
"""Of the multipliers and of shares; a ratio is right to 1e-4 or better."""


def likelihood_ratios(test: Sprt, counts: Integers) -> Floats:
    """The log-likelihood ratio of each row of counts; shape (n,).

    Args:
        test: Its two hypotheses.
        counts: Of games or of pairs, from the worst result to the best; shape (n, 3) or (n, 5).
    """
    seen = np.where(counts > 0, counts, PSEUDOCOUNT)
    total = seen.sum(axis=1)
    shares = seen / total[:, None]
    worse, better = (_fitted(test.scale, shares, elo) for elo in (test.elo0, test.elo1))
    ratios: Floats = total * (shares * np.log(better / worse)).sum(axis=1)
    return ratios


def _fitted(scale: Scale, shares: Floats, elo: float) -> Floats:
    """The likeliest distributions under a hypothesis; shape (n, k)."""
    scores = np.linspace(0, 1, shares.shape[1])
    if scale is Scale.LOGISTIC:
        excess = np.tile(scores - 1 / (1 + 10 ** (-elo / 400)), (len(shares), 1))
        return _tilted(shares, excess)
    pairs = math.sqrt(2) if len(scores) == PAIRS else 1.0
    return _with_deviations(shares, scores, elo / NORMALISED_ELO * pairs)


def _with_deviations(shares: Floats, scores: Floats, wanted: float) -> Floats:
    """Those whose mean is so many deviations above a half, as in `Sprt`; rows that are done rest."""
    fitted = np.full_like(shares, 1 / len(scores))
    left = np.arange(len(shares))
    for _ in range(MAX_REWEIGHTINGS):
        before = fitted[left]
        mean = (before @ scores)[:, None]
        deviation = np.sqrt((before * (scores - mean) ** 2).sum(axis=1, keepdims=True))
        lean = wanted * deviation / 2 * (1 + ((mean - scores) / deviation) ** 2)
        fitted[left] = _tilted(shares[left], scores - 0.5 - lean)
        left = left[np.abs(fitted[left] - before).max(axis=1) > TOLERANCE]
        if not len(left):
            break
    return fitted


def _tilted(shares: Floats, excess: Floats) -> Floats:
    """The likeliest shares under which each row's `excess` has the mean 0."""
    fitted: Floats = shares / (1 + _multipliers(shares, excess)[:, None] * excess)
    return fitted


def _multipliers(shares: Floats, excess: Floats) -> Floats:
    """Where each row's mean of ``excess / (1 + x * excess)`` is 0; shape (n,).

    It has a pole on either side. Times the distances to both it is finite there, and false
    position in Illinois's form (Dowell and Jarratt 1971) converges from anywhere.
    """
    rows = np.arange(len(excess))
    top, bottom = excess.argmax(axis=1), excess.argmin(axis=1)
    start = -1 / excess[rows, top]
    width = -1 / excess[rows, bottom] - start
    low, high = np.zeros(len(rows)), np.ones(len(rows))
    at_low, at_high = shares[rows, top] / width, -shares[rows, bottom] / width
    place, was_above = at_low / (at_low - at_high), np.zeros(len(rows), dtype=bool)
    for step in range(MAX_STEPS):
        terms = excess / (1 + (start + place * width)[:, None] * excess)
        value = (shares * terms).sum(axis=1) * place * (1 - place)
        above = value > 0
        halved = np.where((above == was_above) & (step > 0), 0.5, 1.0)
        low, high = np.where(above, place, low), np.where(above, high, place)
        at_low, at_high = (
            np.where(above, value, at_low * halved),
            np.where(above, at_high * halved, value),
        )
        before, was_above = place, above
        place = (low * at_high - high * at_low) / (at_high - at_low)
        place = np.where((low < place) & (place < high), place, (low + high) / 2)
        if np.abs(place - before).max() < TOLERANCE:
            break
    found: Floats = start + place * width
    return found


FAR = 30.0
"""Deviations from which on a normal tail is taken by its asymptote: erfc underflows at 38."""


def chance_above(
    *, drift: float, deviation: float, lower: float, upper: float, time: float
) -> float:
    """The chance to be absorbed at the upper bound, and before a time.

    By the method of images (Cox and Miller, The Theory of Stochastic Processes, 1965, section
    5.7): each image of the upper bound adds an inverse Gaussian distribution.

    Args:
        drift: In one unit of time.
        deviation: Its standard deviation in one unit of time, above 0.
        lower: Below 0, where the motion starts.
        upper: Above 0.
        time: Since the start.
    """
    width, variance, spread = upper - lower, deviation**2, deviation * math.sqrt(time)
    chance = 0.0
    for image in range(int(6 * spread / width) + 2):
        near, far = upper + 2 * image * width, 2 * (image + 1) * width - upper
        for distance, sign in ((near, 1), (far, -1)):
            for side in (-1, 1):
                pull = drift * upper + side * abs(drift) * distance
                tail = _log_tail((distance + side * abs(drift) * time) / spread)
                chance += sign * math.exp(pull / variance + tail)
    return min(max(chance, 0.0), 1.0)


def _log_tail(deviations: float) -> float:
    """The logarithm of the chance that a standard normal variable is above this."""
    if deviations > FAR:
        return -(deviations**2) / 2 - math.log(deviations * math.sqrt(2 * math.pi))
    return math.log(math.erfc(deviations / math.sqrt(2)) / 2)

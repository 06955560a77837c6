"""The sequential probability ratio test (SPRT) of whether one player is the stronger one.

It stops as soon as it can tell, by the generalised ratio (Wald 1945; Van den Bergh, Comparing
approximations for the GLLR), over games or over pairs of games. A pair is one opening played
with both colours. Its two results go together, and a test that knows that ends earlier the more
the opening or the first move matters.

An estimate from a match of a fixed length is beside it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike

from meijin.ladder.statistics.fit.bradley_terry import ELO_PER_NAT
from meijin.ladder.statistics.fit.covariance import Z_95
from meijin.ladder.statistics.fit.pair_counts import Floats

GAMES = 3
"""Counts of games: lost, drawn, won."""
PAIRS = 5
"""Counts of pairs: by half points, from none to two."""
GAMES_OF_A_PAIR = 2
NORMALISED_ELO = 2 * ELO_PER_NAT
"""Normalised Elo in a score that is one deviation above a half."""
PSEUDOCOUNT = 1e-3
"""What a result counts that has not been seen: at 0 it would be impossible."""


class Scale(Enum):
    """The unit of the hypotheses."""

    NORMALISED = "normalised"
    """The mean score over its deviation from game to game: what the number of games depends on."""
    LOGISTIC = "logistic"
    """The mean score, as Elo."""

    @property
    def limit(self) -> float:
        """How far from 0 a hypothesis may be: from 240 on, some results have no normalised fit."""
        return 200.0 if self is Scale.NORMALISED else 1000.0


class Decision(Enum):
    """The decision of a sequential test, so far."""

    UNDECIDED = "undecided"
    H0_ACCEPTED = "H0 accepted"
    """`elo0` rather than `elo1`."""
    H1_ACCEPTED = "H1 accepted"
    """`elo1` rather than `elo0`."""


@dataclass(frozen=True, slots=True)
class Sprt:
    """A test of two hypotheses of a player's advantage, with the risks of either error."""

    elo0: float
    elo1: float
    alpha: float = 0.05
    """The chance to accept `elo1` where `elo0` is true."""
    beta: float = 0.05
    """The chance to accept `elo0` where `elo1` is true."""
    scale: Scale = Scale.NORMALISED

    def __post_init__(self) -> None:
        if not self.elo0 < self.elo1:
            raise ValueError(f"elo0 {self.elo0:g} is not below elo1 {self.elo1:g}")
        limit = self.scale.limit
        if self.elo0 < -limit or self.elo1 > limit:
            bounds = f"{self.elo0:g} and {self.elo1:g}"
            raise ValueError(f"elo0 and elo1 are within -{limit:g} and {limit:g}, not {bounds}")
        for name, chance in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < chance < 0.5:  # noqa: PLR2004 - else a coin decides as well
                raise ValueError(f"{name} {chance:g} is not between 0 and 0.5")

    @property
    def lower(self) -> float:
        """A ratio at or below it accepts `elo0`."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """A ratio at or above it accepts `elo1`."""
        return math.log((1 - self.beta) / self.alpha)

    def llr(self, counts: Sequence[float]) -> float:
        """The log-likelihood ratio: how much likelier `elo1` makes the results than `elo0`.

        Args:
            counts: Of games or of pairs, from the worst result to the best; effective ones where
                results go together.
        """
        return float(likelihood_ratios(self, [_checked(counts)])[0])

    def decide(self, llr: float) -> Decision:
        if llr >= self.upper:
            return Decision.H1_ACCEPTED
        return Decision.H0_ACCEPTED if llr <= self.lower else Decision.UNDECIDED


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimates of a player's advantage, each with its 95 % confidence interval."""

    elo: float
    elo_margin: float
    """Half of the interval's width."""
    elo_low: float
    elo_high: float
    normalised_elo: float
    normalised_margin: float
    normalised_low: float
    normalised_high: float
    los: float
    """The likelihood that it is the better player."""
    is_sequential: bool = False
    """It allows for a test that has stopped by itself; see `stopped`."""

    @classmethod
    def of(cls, counts: Sequence[float]) -> "Estimate":
        """From counts of games or of pairs, worst first; effective ones where results go together."""
        seen = [count or PSEUDOCOUNT for count in _checked(counts)]
        count = sum(seen)
        mean, deviation = moments(np.array(seen) / count, np.linspace(0, 1, len(seen)))
        error = deviation / math.sqrt(count)
        per_deviation = elo_per_deviation(len(seen))
        low, high = (elo_of_score(mean + Z_95 * error * side) for side in (-1, 1))
        normalised = (mean - 0.5) / deviation * per_deviation
        margin = Z_95 / math.sqrt(count) * per_deviation
        return cls(
            elo=elo_of_score(mean),
            elo_margin=(high - low) / 2,
            elo_low=low,
            elo_high=high,
            normalised_elo=normalised,
            normalised_margin=margin,
            normalised_low=normalised - margin,
            normalised_high=normalised + margin,
            los=math.erfc((0.5 - mean) / error / math.sqrt(2)) / 2,
        )


def _checked(counts: Sequence[float]) -> Sequence[float]:
    if len(counts) not in {GAMES, PAIRS}:
        raise ValueError(f"{len(counts)} counts are neither of games (3) nor of pairs (5)")
    if min(counts) < 0:
        raise ValueError(f"{min(counts)} is no count of results")
    return counts


def elo_of_score(score: float) -> float:
    """The advantage that leads to an expected score; far out for none and for all points."""
    score = min(max(score, PSEUDOCOUNT), 1 - PSEUDOCOUNT)
    return -400 * math.log10(1 / score - 1)


def expected_score(elo: float) -> float:
    return 1 / (1 + 10 ** (-elo / 400))


def moments(shares: Floats, scores: Floats) -> tuple[float, float]:
    """The mean and the deviation of a score."""
    mean = float(shares @ scores)
    return mean, math.sqrt(float(shares @ (scores - mean) ** 2))


def elo_per_deviation(kinds: int) -> float:
    """Normalised Elo in a deviation of a result's score: a pair's is the mean of two games."""
    return NORMALISED_ELO / math.sqrt(GAMES_OF_A_PAIR if kinds == PAIRS else 1)


CONFIDENCE = 0.95
"""Of a bound on one side."""

PAIRED_SHARE = 0.75
"""Where complete pairs have less of the games, too much would be left out with the others."""


def estimate_of_match(games: Sequence[float], pairs: Sequence[float]) -> Estimate | None:
    """The estimate by pairs of games; by games where few are paired, or all pairs ended alike.

    Results that are all the same have no spread to make an interval of: ``None``.

    Args:
        games: Lost, drawn, won.
        pairs: By half points, from none to four.
    """
    are_paired = GAMES_OF_A_PAIR * sum(pairs) >= PAIRED_SHARE * sum(games)
    for counts in (pairs, games) if are_paired else (games,):
        if sum(map(bool, counts)) > 1:
            return Estimate.of(counts)
    return None


def elo_beyond(games: Sequence[int]) -> float | None:
    """The advantage beyond which that of a player is who has won, or lost, every game.

    A player with this advantage would win as many games in a row in 5 % of matches
    (Clopper and Pearson 1934); ``None`` for other results.
    """
    losses, draws, wins = games
    count = sum(games)
    if not count or draws or (wins and losses):
        return None
    bound = elo_of_score((1 - CONFIDENCE) ** (1 / count))
    return bound if wins else -bound


MAX_STEPS = 60
MAX_REWEIGHTINGS = 30
TOLERANCE = 1e-8
"""Of the multipliers and of shares."""


def likelihood_ratios(test: Sprt, counts: ArrayLike) -> Floats:
    """The log-likelihood ratio of each row of counts; shape (n,).

    A row alone takes a millisecond, and many some ten microseconds each. To the last bit it is the
    same alone and among others.

    Args:
        test: Its two hypotheses.
        counts: Of games or of pairs, from the worst result to the best; shape (n, 3) or (n, 5).
    """
    counts = np.asarray(counts, dtype=float)
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
        return _tilted(shares, np.tile(scores - expected_score(elo), (len(shares), 1)))
    return _with_deviations(shares, scores, elo / elo_per_deviation(len(scores)))


def _with_deviations(shares: Floats, scores: Floats, wanted: float) -> Floats:
    """Those whose mean is `wanted` deviations above a half; rows that are done rest.

    They are found again and again for the deviation found before (Van den Bergh, Normalized
    Elo, section 4.1).
    """
    fitted = np.full_like(shares, 1 / len(scores))
    left = np.arange(len(shares))
    for _ in range(MAX_REWEIGHTINGS):
        before = fitted[left]
        mean = (before * scores).sum(axis=1, keepdims=True)
        deviation = np.sqrt((before * (scores - mean) ** 2).sum(axis=1, keepdims=True))
        lean = wanted * deviation / 2 * (1 + ((mean - scores) / deviation) ** 2)
        fitted[left] = _tilted(shares[left], scores - 0.5 - lean)
        left = left[np.abs(fitted[left] - before).max(axis=1) > TOLERANCE]
        if not len(left):
            break
    return fitted


def _tilted(shares: Floats, excess: Floats) -> Floats:
    """The likeliest shares under which each row's `excess` has the mean 0."""
    return shares / (1 + _multipliers(shares, excess)[:, None] * excess)


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
    found = np.zeros(len(rows), dtype=bool)
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
        place = np.where(found, before, place)
        found |= np.abs(place - before) < TOLERANCE
        if found.all():
            break
    multipliers: Floats = start + place * width
    return multipliers

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

from meijin.ladder.statistics.fit.bradley_terry import ELO_PER_NAT
from meijin.ladder.statistics.fit.covariance import Z_95

GAMES = 3
"""Counts of games: lost, drawn, won."""
PAIRS = 5
"""Counts of pairs: by half points, from none to two."""
NORMALISED_ELO = 2 * ELO_PER_NAT
"""Normalised Elo in a score that is one deviation above a half."""
PSEUDOCOUNT = 1e-3
"""What a result counts that has not been seen: at 0 it would be impossible."""
MAX_NEWTON_STEPS = 200
MAX_REWEIGHTINGS = 30
TOLERANCE = 1e-12


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

    def llr(self, counts: Sequence[int]) -> float:
        """The log-likelihood ratio: how much likelier `elo1` makes the results than `elo0`.

        Args:
            counts: Of games or of pairs, from the worst result to the best.
        """
        results = _Results.of(counts)
        worse, better = (self._fitted(results, elo) for elo in (self.elo0, self.elo1))
        return results.count * sum(
            share * math.log(under1 / under0)
            for share, under0, under1 in zip(results.shares, worse, better, strict=True)
        )

    def decide(self, llr: float) -> Decision:
        """The decision at a log-likelihood ratio."""
        if llr >= self.upper:
            return Decision.H1_ACCEPTED
        return Decision.H0_ACCEPTED if llr <= self.lower else Decision.UNDECIDED

    def _fitted(self, results: "_Results", elo: float) -> Sequence[float]:
        if self.scale is Scale.LOGISTIC:
            return results.with_mean(1 / (1 + 10 ** (-elo / 400)))
        return results.with_deviations(elo / NORMALISED_ELO * results.deviation_of_pairs)


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
    def of(cls, counts: Sequence[int]) -> "Estimate":
        """From counts of games or of pairs, worst first."""
        results = _Results.of(counts)
        mean, deviation = results.mean, results.deviation
        error = deviation / math.sqrt(results.count)
        per_deviation = NORMALISED_ELO / results.deviation_of_pairs
        low, high = (elo_of_score(mean + Z_95 * error * side) for side in (-1, 1))
        normalised = (mean - 0.5) / deviation * per_deviation
        margin = Z_95 / math.sqrt(results.count) * per_deviation
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


def elo_of_score(score: float) -> float:
    """The advantage that leads to an expected score; far out for none and for all points."""
    score = min(max(score, PSEUDOCOUNT), 1 - PSEUDOCOUNT)
    return -400 * math.log10(1 / score - 1)


@dataclass(frozen=True, slots=True)
class _Results:
    """The empirical distribution of scores."""

    scores: Sequence[float]
    """From 0 to 1."""
    shares: Sequence[float]
    """Sum 1, none of them 0."""
    count: float
    """Of games, or of pairs."""

    @classmethod
    def of(cls, counts: Sequence[int]) -> "_Results":
        if len(counts) not in {GAMES, PAIRS}:
            raise ValueError(f"{len(counts)} counts are neither of games (3) nor of pairs (5)")
        if min(counts) < 0:
            raise ValueError(f"{min(counts)} is no count of results")
        seen = [count or PSEUDOCOUNT for count in counts]
        scores = [place / (len(seen) - 1) for place, _ in enumerate(seen)]
        return cls(scores, [count / sum(seen) for count in seen], sum(seen))

    @property
    def mean(self) -> float:
        return _mean(self.scores, self.shares)

    @property
    def deviation(self) -> float:
        return _deviation(self.scores, self.shares)

    @property
    def deviation_of_pairs(self) -> float:
        """What a deviation of one game is of the mean of so many, for normalised Elo."""
        return math.sqrt(2) if len(self.scores) == PAIRS else 1.0

    def with_mean(self, mean: float) -> Sequence[float]:
        """The maximum likelihood distribution with a given mean."""
        return self._tilted([score - mean for score in self.scores])

    def with_deviations(self, wanted: float) -> Sequence[float]:
        """The maximum likelihood distribution whose mean is so many deviations above a half.

        It is found again and again for the deviation found before (Van den Bergh, Normalized
        Elo, section 4.1).
        """
        shares: Sequence[float] = [1 / len(self.scores)] * len(self.scores)
        for _ in range(MAX_REWEIGHTINGS):
            mean, deviation = _mean(self.scores, shares), _deviation(self.scores, shares)
            excess = [
                score - 0.5 - wanted * deviation / 2 * (1 + ((mean - score) / deviation) ** 2)
                for score in self.scores
            ]
            before, shares = shares, self._tilted(excess)
            if max(map(_distance, before, shares)) < TOLERANCE:
                break
        return shares

    def _tilted(self, excess: Sequence[float]) -> Sequence[float]:
        """The likeliest shares under which `excess` has the mean 0, by a Lagrange multiplier."""
        multiplier = _multiplier(self.shares, excess)
        return [
            share / (1 + multiplier * value)
            for share, value in zip(self.shares, excess, strict=True)
        ]


def _mean(scores: Sequence[float], shares: Sequence[float]) -> float:
    return sum(score * share for score, share in zip(scores, shares, strict=True))


def _deviation(scores: Sequence[float], shares: Sequence[float]) -> float:
    mean = _mean(scores, shares)
    squares = ((score - mean) ** 2 * share for score, share in zip(scores, shares, strict=True))
    return math.sqrt(sum(squares))


def _distance(one: float, other: float) -> float:
    return abs(one - other)


def _multiplier(shares: Sequence[float], excess: Sequence[float]) -> float:
    """The Lagrange multiplier x where the mean of ``excess / (1 + x * excess)`` is 0, by Newton.

    It falls all the way between the two poles next to 0, and a step that would leave what is
    known to be around the place goes to its middle instead.
    """
    low, high = -1 / max(excess), -1 / min(excess)
    place = 0.0
    for _ in range(MAX_NEWTON_STEPS):
        terms = [value / (1 + place * value) for value in excess]
        mean = sum(share * term for share, term in zip(shares, terms, strict=True))
        low, high = (place, high) if mean > 0 else (low, place)
        slope = sum(share * term**2 for share, term in zip(shares, terms, strict=True))
        before, place = place, place + mean / slope
        if not low < place < high:
            place = (low + high) / 2
        if abs(place - before) <= TOLERANCE * (high - low):
            break
    return place


CONFIDENCE = 0.95
"""Of a bound on one side."""

GAMES_OF_A_PAIR = 2

PAIRED_SHARE = 0.75
"""Where complete pairs have less of the games, too much would be left out with the others."""


def estimate_of_match(games: Sequence[int], pairs: Sequence[int]) -> Estimate | None:
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

    A player with this advantage would win so many games in a row in 5 % of matches
    (Clopper and Pearson 1934); ``None`` for other results.
    """
    losses, draws, wins = games
    count = sum(games)
    if not count or draws or (wins and losses):
        return None
    bound = elo_of_score((1 - CONFIDENCE) ** (1 / count))
    return bound if wins else -bound

"""The effective sample size of a test whose openings come again: its units of evidence.

Bots that end alike whenever an opening comes again say little new by it, though no game repeats
another move by move. m pairs of games on one opening are worth m / (1 + (m - 1) r) of different
openings, where r is the correlation of the scores of two of them (the design effect of Kish,
Survey Sampling, 1965).

r is the mean product of the scores of two pairs of one opening, as deviations from the mean of
all. Were it taken as it is, chance would cost bots that don't end alike 9 % more games on forty
openings. It is shrunk by a prior with a point mass at 0 (Mitchell and Beauchamp, Bayesian variable
selection in linear regression, 1988), and they pay 2 %.
"""

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from meijin.ladder.statistics.sequential.sprt import GAMES, GAMES_OF_A_PAIR, PAIRS

SPIKE_ODDS = 20.0
"""Of no correlation against some, where the estimate is 0. From 5 to 40 neither the errors nor the
games of `benchmarks/sprt_units.py` change by more than 2 %."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Effective counts: as many results, of as many independent openings, would say as much."""

    games: tuple[float, ...] = (0.0,) * GAMES
    """Lost, drawn, won."""
    pairs: tuple[float, ...] = (0.0,) * PAIRS
    """By half points, from none to four."""
    openings: int = 0
    """Of all pairs."""

    @property
    def units(self) -> float:
        """How many pairs on openings of their own the pairs are worth."""
        return sum(self.pairs)


@dataclass(slots=True)
class _Opening:
    pairs: int = 0
    halves: int = 0
    """Half points in the pairs."""
    counts: list[int] = field(default_factory=lambda: [0] * (GAMES + PAIRS))


@dataclass(slots=True)
class UnitTally:
    """Counts results by openings; what one adds takes as long however many there are."""

    correlation: float = 0.0
    """Of the scores of two pairs of one opening, 0 to 1."""
    _openings: defaultdict[Hashable, _Opening] = field(
        default_factory=lambda: defaultdict(_Opening)
    )
    _counts: defaultdict[int, list[int]] = field(
        default_factory=lambda: defaultdict(lambda: [0] * (GAMES + PAIRS))
    )
    """Sums over the openings that have had a number of pairs."""
    _covered: int = 0
    """Openings that have had a pair."""
    _pairs: int = 0
    _halves: int = 0
    _squares: int = 0
    """Sum of the squares of the pairs' half points."""
    _pairs_squared: int = 0
    """Sum over openings; so are the next two."""
    _halves_squared: int = 0
    _pairs_by_halves: int = 0

    def add(self, opening: Hashable, halves: Sequence[int]) -> None:
        """Count the half points of one game, or of the two of a pair."""
        found = self._openings[opening]
        self._move(found, found.pairs, -1)
        for each in halves:
            found.counts[each] += 1
        if len(halves) == GAMES_OF_A_PAIR:
            self._add_pair(found, sum(halves))
        self._move(found, found.pairs, 1)
        self.correlation = self._correlation()

    def _move(self, opening: _Opening, pairs: int, sign: int) -> None:
        counts = self._counts[pairs]
        for place, count in enumerate(opening.counts):
            counts[place] += sign * count
        if not any(counts):
            del self._counts[pairs]

    def _add_pair(self, found: _Opening, halves: int) -> None:
        self._covered += not found.pairs
        self._pairs += 1
        self._halves += halves
        self._squares += halves**2
        self._pairs_squared += 2 * found.pairs + 1
        self._halves_squared += (2 * found.halves + halves) * halves
        self._pairs_by_halves += found.pairs * halves + found.halves + halves
        found.counts[GAMES + halves] += 1
        found.pairs += 1
        found.halves += halves

    def _correlation(self) -> float:
        products = (self._pairs_squared - self._pairs) / 2
        variance = self._squares * self._pairs - self._halves**2  # times the pairs squared
        if not products or not variance:
            return 0.0
        mean = self._halves / self._pairs
        between = (
            self._halves_squared - 2 * mean * self._pairs_by_halves + mean**2 * self._pairs_squared
        )
        within = variance / self._pairs
        found = (between - within) / 2 / products / (within / self._pairs)
        # A deviation from the mean of all is a little too near to those of the others.
        return _shrunk(found + 1 / self._pairs, 1 / math.sqrt(products))

    def evidence(self) -> Evidence:
        counts = [0.0] * (GAMES + PAIRS)
        for pairs, each in self._counts.items():
            weight = 1 / (1 + max(pairs - 1, 0) * self.correlation)
            for place, count in enumerate(each):
                counts[place] += weight * count
        return Evidence(tuple(counts[:GAMES]), tuple(counts[GAMES:]), self._covered)

    def last_gain(self, opening: Hashable) -> float:
        """What the last pair on an opening has added, in units."""
        correlation, pairs = self.correlation, self._openings[opening].pairs
        if pairs <= 1:
            return 1.0
        worths = (1 + (pairs - each) * correlation for each in (1, 2))
        return (1 - correlation) / math.prod(worths)


def _shrunk(correlation: float, error: float) -> float:
    """The posterior mean of an estimate, which would have this standard error were it truly 0.

    Of a point mass at 0 and an even density above it.
    """
    deviations = correlation / error
    density = math.exp(-(deviations**2) / 2)
    above = math.erfc(-deviations / math.sqrt(2)) / 2
    if not above:
        return 0.0
    mean = deviations + density / math.sqrt(2 * math.pi) / above
    return min(max(error * mean * above / (above + SPIKE_ODDS * density), 0.0), 1.0)

"""Intransitive triples: one beats the second, the second the third, and the third the first."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from meijin.ladder.statistics.diagnosis.goodness_of_fit import ENOUGH
from meijin.ladder.statistics.diagnosis.residuals import PairResiduals, two_sided
from meijin.ladder.statistics.fit.bradley_terry import ELO_PER_NAT, Fit
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers

TRIPLE_LEVEL = 0.0075
"""The p-value, of a whole pool, below which a triple is told."""
MOST_PLAYERS = 100
"""Whose triples are looked at, 161,700 of them; of more players, those whose residuals are largest."""


@dataclass(frozen=True, slots=True)
class Triple:
    """A circular triad: `one` beat `other`, `other` beat `third`, `third` beat `one`."""

    one: int
    """By its place in the fit; the least of the three."""
    other: int
    third: int
    excess: float
    """The sum of the three leads, in Elo: 0 where strengths alone decide."""
    deviations: float
    """Of that sum from 0."""
    p_value: float
    """For all triples of the pool together."""

    @property
    def players(self) -> tuple[int, ...]:
        """All three."""
        return self.one, self.other, self.third

    @property
    def is_sure(self) -> bool:
        """Whether it is surer than chance."""
        return self.p_value < TRIPLE_LEVEL


def circular_triads(fit: Fit, residuals: PairResiduals, most: int) -> list[Triple]:
    """The `most` circular triads that luck explains least, the surest first.

    Around a circle strengths cancel: the leads in log-odds sum to 0 in Bradley and Terry's model
    (Kendall & Babington Smith, On the method of paired comparisons, 1940; Causeur & Husson, A
    2-dimensional extension of the Bradley-Terry model, 2005). So the sum of three residuals
    tests the circle whatever the strengths are, and its variance is that of three scores. The
    p-values are Bonferroni's for every triple of the pool, looked at or not.
    """
    chosen = _players(residuals, len(fit.players))
    table = _Table.of(fit, residuals, chosen)
    found = [table.triads_of(place, most) for place in range(len(chosen) - 2)]
    if not found:
        return []
    rows = np.concatenate(found)
    n = len(fit.players)
    triples = n * (n - 1) * (n - 2) / 6
    order = np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0], -np.round(rows[:, 4], 6)))[:most]
    p_values = np.minimum(triples * two_sided(np.maximum(rows[order, 4], 0.0)), 1.0)
    players = chosen[rows[order, :3].astype(np.int64)]
    columns = (*players.T.tolist(), *rows[order, 3:].T.tolist(), p_values.tolist())
    return [Triple(*each) for each in zip(*columns, strict=True)]


def _players(residuals: PairResiduals, players: int) -> Integers:
    """The places of those whose triples are looked at, ascending."""
    if players <= MOST_PLAYERS:
        return np.arange(players)
    largest = np.zeros(players)
    sizes = np.round(np.abs(residuals.standardised()), 6)
    np.maximum.at(largest, residuals.one, sizes)
    np.maximum.at(largest, residuals.other, sizes)
    return np.sort(np.argsort(-largest, kind="stable")[:MOST_PLAYERS])


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """What is known of each two of some players, antisymmetric; shapes (n, n)."""

    beats: NDArray[np.bool_]
    """Whether the row's player has the better of enough games with the column's."""
    log_odds: Floats
    scaled: Floats
    """Standard normal residuals over the root of their information."""
    variances: Floats
    """Symmetric."""

    @classmethod
    def of(cls, fit: Fit, residuals: PairResiduals, chosen: Integers) -> "_Table":
        """Of the chosen players, by their places."""
        place = np.full(len(fit.players), -1)
        place[chosen] = np.arange(len(chosen))
        rows = (place[residuals.one] >= 0) & (place[residuals.other] >= 0)
        rows &= residuals.points.variance >= ENOUGH
        one, other = place[residuals.one[rows]], place[residuals.other[rows]]
        size, odds = len(chosen), residuals.log_odds[rows]
        information = residuals.information[rows]
        lead = odds + (fit.elo[residuals.one] - fit.elo[residuals.other])[rows] / ELO_PER_NAT

        def square(column: Floats, sign: int) -> Floats:
            table = np.zeros((size, size))
            table[one, other], table[other, one] = column, sign * column
            return table

        return cls(
            beats=square(lead, -1) > 0,
            log_odds=square(odds, -1),
            scaled=square(residuals.deviance_roots()[rows] / np.sqrt(information), -1),
            variances=square(1 / information, 1),
        )

    def triads_of(self, one: int, most: int) -> Floats:
        """The surest with two players after `one`: three places, the sum in Elo, and its deviations."""
        beaten = np.flatnonzero(self.beats[one, one + 1 :]) + one + 1
        beating = np.flatnonzero(self.beats[one + 1 :, one]) + one + 1
        rows, columns = np.nonzero(self.beats[np.ix_(beaten, beating)])
        other, third = beaten[rows], beating[columns]
        variance = self.variances[one, other] + self.variances[other, third]
        deviations = self._around(self.scaled, one, other, third)
        deviations /= np.sqrt(variance + self.variances[third, one])
        surest = np.argsort(-np.round(deviations, 6), kind="stable")[:most]
        other, third = other[surest], third[surest]
        excess = ELO_PER_NAT * self._around(self.log_odds, one, other, third)
        return np.column_stack((np.full(len(other), one), other, third, excess, deviations[surest]))

    @staticmethod
    def _around(table: Floats, one: int, other: Integers, third: Integers) -> Floats:
        """The sums around circles."""
        total: Floats = table[one, other] + table[other, third] + table[third, one]
        return total

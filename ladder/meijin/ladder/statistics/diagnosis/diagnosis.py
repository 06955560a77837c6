"""Diagnosis of a fit: whether games let one strength a player explain them, and where they do not."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias, TypeVar

import numpy as np

from meijin.ladder.statistics.diagnosis.over_time import Drift, Steps
from meijin.ladder.statistics.diagnosis.residuals import (
    PairResiduals,
    Points,
    benjamini_hochberg,
    chi_square_tail,
    holm,
    two_sided,
)
from meijin.ladder.statistics.fit.bradley_terry import ELO_PER_NAT, Fit
from meijin.ladder.statistics.fit.covariance import NO_VARIANCE, Covariance
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, Mask, Masked, sums

FIT_LEVEL = 0.015
"""The p-value below which a fit is rejected."""
ENOUGH = 1.0
"""The least variance of a pair's points, that of four games of equals, to be in a chi-square: of
fewer, one upset would outweigh all others."""


@dataclass(frozen=True, slots=True)
class GoodnessOfFit:
    """Whether pairs scatter as they should, and by how much more they do."""

    p_value: float
    """The chance of so much scatter where the model holds."""
    chi_square: float
    """Pearson's, over the pairs with enough games."""
    deviance: float
    """The likelihood-ratio statistic of the same pairs."""
    freedom: float
    """What both should be: the pairs, less what the fit takes of them."""
    pairs: int
    """How many have enough games."""
    deviation: float
    """Of the differences of pairs from those of their ratings, over luck; Elo."""

    @property
    def is_rejected(self) -> bool:
        return self.p_value < FIT_LEVEL

    @property
    def overdispersion(self) -> float:
        """How much more the scores scatter than by luck alone; 1 where the model holds."""
        return self.chi_square / self.freedom if self.freedom > 0 else 1.0

    @classmethod
    def of(cls, residuals: PairResiduals) -> Self:
        """The goodness of fit over all pairs."""
        enough = residuals.is_tested & (residuals.points.variance >= ENOUGH)
        p_value = 1.0
        if residuals.is_tested.any():
            p_value = float(_tail(*(each.sum(keepdims=True) for each in _terms(residuals)))[0])
        chi_square = float((residuals.pearson[enough] ** 2).sum())
        freedom = float(residuals.rest[enough].sum())
        information = float((residuals.information * residuals.rest)[enough].sum())
        excess = max(chi_square - freedom, 0.0) / information if information else 0.0
        return cls(
            p_value=p_value,
            chi_square=chi_square,
            deviance=float((residuals.deviance_roots[enough] ** 2).sum()),
            freedom=freedom,
            pairs=int(enough.sum()),
            deviation=ELO_PER_NAT * excess**0.5,
        )


def scatter_by_player(residuals: PairResiduals, players: int) -> Floats:
    """Of each player, the chance that its own pairs scatter so much where the model holds; shape (n,)."""
    one, other = residuals.one, residuals.other
    columns = (sums(one, each, players) + sums(other, each, players) for each in _terms(residuals))
    return _tail(*columns)


def _terms(residuals: PairResiduals) -> tuple[Floats, Floats, Floats]:
    """What each pair adds to a test of scatter, to its mean and its variance; shapes (k,).

    Squares of Pearson's residuals, weighted by the root of what each pair informs. Without weights
    it is Pearson's chi-square; with the information itself it is the score test of overdispersion
    (Dean, Testing for overdispersion in Poisson and binomial regression models, 1992), the best
    where all pairs depart alike. Between the two, it found circles in most simulated pools, and one
    upset of a pair with few games weighs little. As a quadratic form in independent scores it has
    the variance 2 tr(M^2) + the sum of their excess kurtoses times the squares of M's diagonal; M
    takes the fit away, nearly a projection, so that tr(M^2) is about tr(M).
    """
    points, rest = residuals.points, residuals.rest
    weight = np.where(residuals.is_tested, np.sqrt(residuals.information), 0.0)
    kurtosis = points.fourth / np.where(residuals.is_tested, points.variance, 1.0) ** 2
    variance = weight**2 * np.maximum(2 * rest + kurtosis * rest**2, 0.0)
    return weight * residuals.pearson**2, weight * rest, variance


def _tail(value: Floats, mean: Floats, variance: Floats) -> Floats:
    """By the scaled chi-square of that mean and variance, since pairs may have few games.

    (Satterthwaite, An approximate distribution of estimates of variance components, 1946; of
    sparse tables, McCullagh, On the asymptotic distribution of Pearson's statistic in linear
    exponential-family models, 1985.)
    """
    scale = np.where(variance > 0, variance, 1.0) / np.maximum(2 * mean, NO_VARIANCE)
    return chi_square_tail(value / scale, np.where(variance > 0, mean / scale, 0.0))


TRIPLE_LEVEL = 0.005
"""The p-value, of a whole pool, below which a triple is sure."""
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
        return self.one, self.other, self.third

    @property
    def is_sure(self) -> bool:
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
    sizes = np.round(np.abs(residuals.standardised), 6)
    np.maximum.at(largest, residuals.one, sizes)
    np.maximum.at(largest, residuals.other, sizes)
    return np.sort(np.argsort(-largest, kind="stable")[:MOST_PLAYERS])


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """What is known of each two of some players, antisymmetric; shapes (n, n)."""

    beats: Mask
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
            scaled=square(residuals.deviance_roots[rows] / np.sqrt(information), -1),
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
        total: Floats = table[one, other] + table[other, third] + table[third, one]
        return total


LEVEL = 0.05
"""The share of pools that anything at all is said against though the model holds there, at most;
the fit as a whole, pairs, triples, trends and steps have 1.5, 0.5, 0.5, 0.5 and 0.5 % of it
(Bonferroni), and the causes of wide intervals the rest."""
PAIR_LEVEL, DRIFT_LEVEL, STEP_LEVEL = 0.005, 0.005, 0.005
"""The p-values, of a whole pool, below which a pair, a trend and a step are sure."""
SHOWN, MOST_SHOWN = 10, 50
"""Of findings of a kind: the most that are listed when luck explains them, and at all."""


@dataclass(frozen=True, slots=True)
class SurprisingPair:
    """Two whose results depart from their ratings."""

    one: int
    """By its place in the fit."""
    other: int
    games: int
    score: float
    """Of `one`: the share of the points."""
    expected: float
    """The share that the ratings let expect."""
    deviations: float
    """The standardised residual."""
    p_value: float
    """For all pairs of the pool together."""

    @property
    def players(self) -> tuple[int, ...]:
        return self.one, self.other

    @property
    def is_sure(self) -> bool:
        return self.p_value < PAIR_LEVEL


@dataclass(frozen=True, slots=True)
class DriftingPlayer:
    """A player whose strength has a trend."""

    player: int
    """By its place in the fit."""
    elo_per_100_games: float
    deviations: float
    p_value: float
    """For all players of the pool together."""

    @property
    def is_sure(self) -> bool:
        return self.p_value < DRIFT_LEVEL


@dataclass(frozen=True, slots=True)
class ChangedPlayer:
    """A player whose strength has changed at once."""

    player: int
    """By its place in the fit."""
    games: int
    """Its own since then."""
    elo: float
    """The strength since then, less that before."""
    deviations: float
    p_value: float
    """For all players and times of the pool together."""

    @property
    def is_sure(self) -> bool:
        return self.p_value < STEP_LEVEL


Finding: TypeAlias = SurprisingPair | Triple | DriftingPlayer | ChangedPlayer
F = TypeVar("F", SurprisingPair, Triple, DriftingPlayer, ChangedPlayer)


@dataclass(frozen=True, slots=True, eq=False)
class Diagnosis:
    """What speaks against a fit; the surest come first."""

    goodness: GoodnessOfFit
    pairs: Sequence[SurprisingPair]
    triples: Sequence[Triple]
    drifts: Sequence[DriftingPlayer]
    changes: Sequence[ChangedPlayer]
    depends_on_opponents: Mask
    """Whose results depend on whom it meets: by a pair or a triple, or by the scatter of its own
    pairs in a pool that does not fit; shape (n,)."""
    changed_games: Masked
    """Of each player since its strength surely changed at once; masked where it did not; shape (n,)."""
    changes_over_time: Mask
    """Whose strength has a trend or has changed at once; shape (n,)."""

    @property
    def is_misfit(self) -> bool:
        found: list[Finding] = [*self.pairs, *self.triples, *self.drifts, *self.changes]
        return self.goodness.is_rejected or any(each.is_sure for each in found)

    @classmethod
    def of(
        cls, fit: Fit, covariance: Covariance, over: Points, *, correlation: float = 0.0
    ) -> Self:
        """The diagnosis of a fit.

        Args:
            fit: The fit.
            covariance: By the model alone: one that is robust would hide what is looked for.
            over: Everyone's points over time.
            correlation: Of games that began alike.
        """
        residuals = PairResiduals.of(fit, covariance, correlation)
        goodness = GoodnessOfFit.of(residuals)
        pairs, triples = _pairs(residuals), _shown(circular_triads(fit, residuals, MOST_SHOWN))
        drifts, steps = _drifts(Drift.of(over)), _changes(Steps.of(over))
        depends, changes = np.zeros((2, len(fit.players)), dtype=bool)
        if goodness.is_rejected:
            depends = benjamini_hochberg(scatter_by_player(residuals, len(depends))) < LEVEL
        told: list[SurprisingPair | Triple] = [*pairs, *triples]
        changed: list[DriftingPlayer | ChangedPlayer] = [*drifts, *steps]
        for found in told:
            if found.is_sure:
                depends[list(found.players)] = True
        for change in changed:
            changes[change.player] |= change.is_sure
        since = {step.player: step.games for step in steps if step.is_sure}
        games = np.array([since.get(player, 0) for player in range(len(changes))], dtype=np.int64)
        return cls(
            goodness=goodness,
            pairs=pairs,
            triples=triples,
            drifts=drifts,
            changes=steps,
            depends_on_opponents=depends,
            changed_games=np.ma.masked_array(games, games == 0),
            changes_over_time=changes,
        )


def _surest(
    deviations: Floats, is_tested: Mask, p_values: Floats | None = None
) -> Iterator[tuple[int, float, float]]:
    """What may be told of, the surest first: places, deviations, and p-values of all together.

    Equal bytes whatever the last bits of the deviations are.

    Args:
        p_values: Of each alone; those of normal variables without them.
    """
    sizes, places = np.round(np.abs(deviations), 6), np.flatnonzero(is_tested)
    tests = len(places)
    if p_values is None and tests > MOST_SHOWN:
        least = np.partition(sizes[places], -MOST_SHOWN)[-MOST_SHOWN]
        places = places[sizes[places] >= least]
    chances = two_sided(deviations[places]) if p_values is None else p_values[places]
    order = np.lexsort((-sizes[places], np.round(chances, 9)))[:MOST_SHOWN]
    surest, told = places[order], holm(chances[order], tests)
    return zip(surest.tolist(), deviations[surest].tolist(), told.tolist(), strict=True)


def _pairs(residuals: PairResiduals) -> list[SurprisingPair]:
    points = residuals.points
    surest = _surest(residuals.standardised, residuals.is_tested)
    found = [
        SurprisingPair(
            one=int(residuals.one[place]),
            other=int(residuals.other[place]),
            games=round(float(points.games[place])),
            score=float(points.scored[place] / points.games[place]),
            expected=float(points.expected[place] / points.games[place]),
            deviations=deviations,
            p_value=p_value,
        )
        for place, deviations, p_value in surest
    ]
    return _shown(found)


def _drifts(drift: Drift) -> list[DriftingPlayer]:
    found = [
        DriftingPlayer(place, float(100 * drift.elo_per_game[place]), deviations, p_value)
        for place, deviations, p_value in _surest(drift.deviations, drift.is_tested)
    ]
    return _shown(found)


def _changes(steps: Steps) -> list[ChangedPlayer]:
    found = [
        ChangedPlayer(
            place, round(float(steps.games[place])), float(steps.elo[place]), deviations, p_value
        )
        for place, deviations, p_value in _surest(steps.deviations, steps.is_tested, steps.p_values)
    ]
    return _shown(found)


def _shown(found: Sequence[F]) -> list[F]:
    """What is listed: all that is sure, and the first few others."""
    return [each for place, each in enumerate(found) if place < SHOWN or each.is_sure]

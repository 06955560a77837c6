"""Diagnosis of a fit: whether games let one strength a player explain them, and where they do not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from meijin.ladder.statistics.diagnosis.drift import Drift
from meijin.ladder.statistics.diagnosis.goodness_of_fit import GoodnessOfFit, scatter_by_player
from meijin.ladder.statistics.diagnosis.intransitivity import Triple, circular_triads
from meijin.ladder.statistics.diagnosis.residuals import (
    PairResiduals,
    benjamini_hochberg,
    holm,
    two_sided,
)
from meijin.ladder.statistics.fit.bradley_terry import Fit
from meijin.ladder.statistics.fit.covariance import Covariance
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers, PairCounts

LEVEL = 0.05
"""The share of pools that anything at all is said against though the model holds there; the fit
as a whole, pairs, triples and drift have 2, 0.75, 0.75 and 1.5 % of it (Bonferroni)."""
PAIR_LEVEL, DRIFT_LEVEL = 0.0075, 0.015
"""The p-values, of a whole pool, below which a pair and a drift are told."""
SHOWN, MOST_SHOWN = 10, 50
"""Of pairs, triples and drifts: the most that are told when luck explains them, and at all."""


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
        """Both."""
        return self.one, self.other

    @property
    def is_sure(self) -> bool:
        """Whether it is surer than chance."""
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
        """Whether it is surer than chance."""
        return self.p_value < DRIFT_LEVEL


F = TypeVar("F", SurprisingPair, Triple, DriftingPlayer)


@dataclass(frozen=True, slots=True, eq=False)
class Diagnosis:
    """What speaks against a fit; the surest come first."""

    goodness: GoodnessOfFit
    pairs: Sequence[SurprisingPair]
    triples: Sequence[Triple]
    drifts: Sequence[DriftingPlayer]
    depends_on_opponents: NDArray[np.bool_]
    """Whose results depend on whom it meets: by a pair or a triple, or by the scatter of its own
    pairs in a pool that does not fit; shape (n,)."""
    changes_over_time: NDArray[np.bool_]
    """Whose strength has a trend; shape (n,)."""

    @property
    def is_misfit(self) -> bool:
        """Whether anything at all is surer than chance."""
        found: list[SurprisingPair | Triple | DriftingPlayer] = [*self.pairs, *self.triples]
        found += self.drifts
        return self.goodness.is_rejected or any(each.is_sure for each in found)

    @classmethod
    def of(cls, fit: Fit, covariance: Covariance, by_time: PairCounts, times: Integers) -> Self:
        """The diagnosis of a fit.

        Args:
            fit: The fit.
            covariance: By the model alone: one that is robust would hide what is looked for.
            by_time: The same games by pair and time, the players named as in `fit.players`.
            times: Of each row of these, as `Drift` takes them.
        """
        residuals = PairResiduals.of(fit, covariance)
        drift = Drift.of(fit, by_time, times)
        goodness = GoodnessOfFit.of(residuals)
        pairs, triples = _pairs(residuals), _shown(circular_triads(fit, residuals, MOST_SHOWN))
        drifts = _drifts(drift)
        depends, changes = np.zeros((2, len(fit.players)), dtype=bool)
        if goodness.is_rejected:
            depends = benjamini_hochberg(scatter_by_player(residuals, len(depends))) < LEVEL
        told: list[SurprisingPair | Triple] = [*pairs, *triples]
        for found in told:
            if found.is_sure:
                depends[list(found.players)] = True
        changes[[each.player for each in drifts if each.is_sure]] = True
        return cls(
            goodness=goodness,
            pairs=pairs,
            triples=triples,
            drifts=drifts,
            depends_on_opponents=depends,
            changes_over_time=changes,
        )


def _surest(deviations: Floats) -> list[int]:
    """The places of what may be told of, the surest first; equal bytes whatever the last bits are."""
    order: list[int] = np.argsort(-np.round(np.abs(deviations), 6), kind="stable").tolist()
    return order[:MOST_SHOWN]


def _pairs(residuals: PairResiduals) -> list[SurprisingPair]:
    tested = np.flatnonzero(residuals.is_tested)
    points, deviations = residuals.points, residuals.standardised()[tested]
    surest = _surest(deviations)
    p_values = holm(two_sided(deviations[surest]), len(tested)).tolist()
    found = [
        SurprisingPair(
            one=int(residuals.one[place]),
            other=int(residuals.other[place]),
            games=round(float(points.games[place])),
            score=float(points.scored[place] / points.games[place]),
            expected=float(points.expected[place] / points.games[place]),
            deviations=float(deviations[row]),
            p_value=p_value,
        )
        for row, p_value in zip(surest, p_values, strict=True)
        for place in [tested[row]]
    ]
    return _shown(found)


def _drifts(drift: Drift) -> list[DriftingPlayer]:
    tested = np.flatnonzero(drift.is_tested)
    deviations = drift.deviations[tested]
    surest = _surest(deviations)
    p_values = holm(two_sided(deviations[surest]), len(tested)).tolist()
    found = [
        DriftingPlayer(
            player=int(tested[row]),
            elo_per_100_games=float(100 * drift.elo_per_game[tested[row]]),
            deviations=float(deviations[row]),
            p_value=p_value,
        )
        for row, p_value in zip(surest, p_values, strict=True)
    ]
    return _shown(found)


def _shown(found: Sequence[F]) -> list[F]:
    """What is told: all that is sure, and the first few others."""
    return [each for place, each in enumerate(found) if place < SHOWN or each.is_sure]

"""The posterior over ratings, by a published run and the games since."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from meijin.ladder.rating_table import BASE
from meijin.ladder.statistics.fit.bradley_terry import Outcomes, Prior
from meijin.ladder.statistics.fit.covariance import Z_95, DenseCovariance, superiority
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers
from meijin.ladder.statistics.pairing.online_posterior import OnlinePosterior
from meijin.store.ladders.rated_games import ScoredGame
from meijin.store.ladders.runs import Covariances, Standings
from meijin.store.schema import BotVersionId


@dataclass(frozen=True, slots=True, eq=False)
class RatingPosterior:
    """The joint posterior of a published run: what it says of any two versions.

    All shapes follow the standings, best first.
    """

    versions: Sequence[BotVersionId]
    elo: Floats
    """The ratings; shape (n,)."""
    covariance: DenseCovariance
    """Of their errors."""
    outcomes: Outcomes
    prior_mean: float
    """What a version without parent and games would be rated."""
    lineage: float
    """The deviation of a version from its parent, a step away; Elo."""

    @classmethod
    def of(cls, table: Standings, covariances: Covariances | None) -> Self:
        """From what is stored of a run.

        Where no covariances are, the pool being large or the run an earlier one, the errors are
        taken as independent.
        """
        assert table.run is not None
        lines = [row.line for row in table.standings]
        versions = [row.version_id for row in table.standings]
        if covariances is None:
            matrix = np.diag([(line.margin / Z_95) ** 2 for line in lines])
        else:
            matrix = _ordered(covariances, versions)
        parameters = table.run.parameters
        elo = np.array([line.elo for line in lines])
        return cls(
            versions=versions,
            elo=elo,
            covariance=DenseCovariance(matrix),
            outcomes=outcomes_of(parameters),
            # Runs of before versions had parents tell neither.
            prior_mean=parameters.get("prior_mean", float(np.mean(elo)) if lines else BASE),
            lineage=parameters.get("lineage", Prior().lineage),
        )

    def difference(self, one: int, other: int) -> tuple[float, float]:
        """By how much one is the stronger, and half of the 95 % interval; in Elo."""
        variance = self.covariance.of_differences(np.array([one]), np.array([other]))
        return float(self.elo[one] - self.elo[other]), Z_95 * float(variance[0]) ** 0.5

    def superiority(self, one: Integers, other: Integers) -> Floats:
        """The likelihoods of superiority (LOS) of each of one over its other; shape (k,)."""
        return superiority(
            self.elo[one] - self.elo[other], self.covariance.of_differences(one, other)
        )

    def online(self, places: Integers, steps: Integers | None = None) -> OnlinePosterior:
        """The posterior over those at some places, numbered in their order, to be updated.

        Args:
            steps: How many versions later than that at its place each one is: it has that one's
                strength, less surely by the lineage's width for each step. Without them none is.
        """
        covariance = self.covariance.matrix[np.ix_(places, places)]
        if steps is not None:
            covariance = covariance + np.diag(self.lineage**2 * steps)
        return OnlinePosterior(
            self.elo[places], covariance, self.outcomes, prior_mean=self.prior_mean
        )


def outcomes_of(parameters: Mapping[str, Any]) -> Outcomes:
    """How games end, by a published run's parameters; earlier ones had draws without a slope."""
    return Outcomes(
        parameters["advantage"],
        parameters["draws"],
        parameters.get("draw_slope", 0.0),
        parameters.get("draw_level", 0.0),
    )


def superiority_of(
    table: Standings, covariances: Covariances, one: Integers, other: Integers
) -> Floats:
    """The likelihoods of superiority (LOS) of some versions over others; shape (k,).

    As `RatingPosterior` has them, without its matrix: for the few that a table asks for.

    Args:
        one: Places in the table.
        other: Likewise.
    """
    elo = np.array([row.line.elo for row in table.standings])
    versions = np.array([row.version_id for row in table.standings], dtype=np.int64)
    kept, matrix = _kept(covariances)
    places = np.searchsorted(kept, versions)
    i, j = places[one], places[other]
    errors = matrix[[i, j, i], [i, j, j]].astype(np.float64)
    return superiority(elo[one] - elo[other], errors[0] + errors[1] - 2 * errors[2])


def _ordered(covariances: Covariances, versions: Sequence[BotVersionId]) -> Floats:
    kept, matrix = _kept(covariances)
    places = np.searchsorted(kept, np.asarray(versions, dtype=np.int64))
    ordered: Floats = matrix[np.ix_(places, places)].astype(np.float64)
    return ordered


def _kept(covariances: Covariances) -> tuple[Integers, NDArray[np.float32]]:
    """The versions, sorted, and the matrix as it is stored."""
    kept = np.frombuffer(covariances.version_ids, dtype="<i8")
    matrix = np.frombuffer(covariances.matrix, dtype="<f4").reshape(len(kept), len(kept))
    return kept, matrix


def preview(posterior: RatingPosterior, games: Iterable[ScoredGame]) -> Floats:
    """Everyone's rating after the games since the run, each taken in by one step; shape (n,).

    Games of versions that the run does not have say nothing of the others.
    """
    number = {version: place for place, version in enumerate(posterior.versions)}
    online = posterior.online(np.arange(len(posterior.versions)))
    for black, white, points in games:
        if black in number and white in number:
            online.observe(number[black], number[white], points)
    return online.elo

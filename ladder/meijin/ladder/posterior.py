"""The posterior over ratings, by a published run and the games since."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from meijin.ladder.pool import BASE
from meijin.ladder.statistics.fit.bradley_terry import Outcomes, Prior
from meijin.ladder.statistics.fit.covariance import Z_95, Covariance, superiority
from meijin.ladder.statistics.fit.pair_counts import Floats, Integers
from meijin.ladder.statistics.pairing.online_posterior import OnlinePosterior
from meijin.store.ladders.games import PairCount, ScoredGame
from meijin.store.ladders.runs import Standing, Standings
from meijin.store.schema import BotId, BotVersionId, Posterior, RunParameters, Score


@dataclass(frozen=True, slots=True, eq=False)
class RatingPosterior:
    """The joint posterior of a published run: what it says of any two versions.

    All shapes follow the standings, best first.
    """

    versions: Sequence[BotVersionId]
    elo: Floats
    """The ratings; shape (n,)."""
    covariance: Covariance
    """Of their errors."""
    outcomes: Outcomes
    prior_mean: float
    """What a version without parent and games would be rated."""
    lineage: float
    """The deviation of a version from its parent, a step away; Elo."""

    @classmethod
    def of(cls, table: Standings, covariances: Posterior | None) -> Self:
        """From what is stored of a run.

        Where no covariances are, the pool being large or the run an earlier one, the errors are
        taken as independent.
        """
        assert table.run is not None
        lines = table.standings
        versions = [line.version_id for line in lines]
        if covariances is None:
            matrix = np.diag([(line.margin / Z_95) ** 2 for line in lines])
        else:
            matrix = _ordered(covariances, versions)
        parameters = table.run.parameters
        elo = np.array([line.elo for line in lines])
        return cls(
            versions=versions,
            elo=elo,
            covariance=Covariance(matrix),
            outcomes=outcomes_of(parameters),
            # Runs of before versions had parents tell neither.
            prior_mean=(float(np.mean(elo)) if lines else BASE)
            if parameters.prior_mean is None
            else parameters.prior_mean,
            lineage=Prior().lineage if parameters.lineage is None else parameters.lineage,
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


def outcomes_of(found: RunParameters) -> Outcomes:
    return Outcomes(
        found.advantage,
        found.draws,
        opening=found.openings or 0.0,
        draw_slope=found.draw_slope,
        level=found.draw_level,
    )


def superiority_of(
    table: Standings, covariances: Posterior, one: Integers, other: Integers
) -> Floats:
    """The likelihoods of superiority (LOS) of some versions over others; shape (k,).

    As `RatingPosterior` has them, without its matrix: for the few that a table asks for.

    Args:
        one: Places in the table.
        other: Likewise.
    """
    elo = np.array([row.elo for row in table.standings])
    versions = np.array([row.version_id for row in table.standings], dtype=np.int64)
    kept, matrix = _kept(covariances)
    places = np.searchsorted(kept, versions)
    i, j = places[one], places[other]
    errors = matrix[[i, j, i], [i, j, j]].astype(np.float64)
    return superiority(elo[one] - elo[other], errors[0] + errors[1] - 2 * errors[2])


def _ordered(covariances: Posterior, versions: Sequence[BotVersionId]) -> Floats:
    kept, matrix = _kept(covariances)
    places = np.searchsorted(kept, np.asarray(versions, dtype=np.int64))
    return matrix[np.ix_(places, places)].astype(np.float64)


def _kept(covariances: Posterior) -> tuple[Integers, NDArray[np.float32]]:
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


@dataclass(frozen=True, slots=True)
class Comparison:
    """One version against another: a cell of a matrix."""

    superiority: float
    """The chance to be the stronger."""
    expected_score: float
    """The mean of both colours: 1 for a win, 0.5 for a draw."""
    score: Score
    """Of the games between them, colours together."""


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One version against each of a matrix."""

    standing: Standing
    cells: tuple[Comparison, ...]
    """In the order of the rows."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What is to be expected of one version against another."""

    difference: float
    """By how much it is the stronger; Elo."""
    margin: float
    """Half of the 95 % interval; Elo."""
    superiority: float
    """The chance to be the stronger."""
    score_as_black: float
    """The mean with the black stones: 1 for a win, 0.5 for a draw."""
    score_as_white: float


def compare_all(
    rows: Sequence[Standing],
    places: Sequence[int],
    posterior: RatingPosterior,
    counts: Iterable[PairCount],
) -> tuple[MatrixRow, ...]:
    """Each two of the versions at some places of a ladder's standings.

    Args:
        rows: All of the standings.
        places: Indexes of the rows to compare.
        posterior: What the run of the standings says.
        counts: The games among those compared.
    """
    chosen = np.array(places, dtype=np.int64)
    others = [rows[place] for place in places]
    scores = _scores(counts)
    matrix = []
    for place, row in zip(places, others, strict=True):
        same = np.full(len(chosen), place)
        chances = posterior.superiority(same, chosen).tolist()
        differences = posterior.elo[same] - posterior.elo[chosen]
        between = posterior.outcomes.between(posterior.elo[same], posterior.elo[chosen])
        expected = between.score_with_both(differences).tolist()
        cells = tuple(
            Comparison(chance, points, scores[row.version_id, other.version_id])
            for chance, points, other in zip(chances, expected, others, strict=True)
        )
        matrix.append(MatrixRow(row, cells))
    return tuple(matrix)


def _scores(counts: Iterable[PairCount]) -> dict[tuple[BotVersionId, BotVersionId], Score]:
    """What the first scored against the second, colours together."""
    scores: dict[tuple[BotVersionId, BotVersionId], Score] = defaultdict(Score)
    for pair in counts:
        score = Score(pair.wins, pair.draws, pair.losses)
        scores[pair.black_id, pair.white_id] += score
        scores[pair.white_id, pair.black_id] += score.reversed
    return scores


def total(counts: Iterable[PairCount]) -> Score:
    """What those with black scored altogether."""
    return sum((Score(pair.wins, pair.draws, pair.losses) for pair in counts), Score())


def expectation(
    rows: Sequence[Standing],
    posterior: RatingPosterior,
    version_id: BotVersionId,
    other_id: BotVersionId,
) -> Expectation | None:
    """Of two versions; ``None`` where one of them is not in the standings."""
    places = {row.version_id: place for place, row in enumerate(rows)}
    one, other = places.get(version_id), places.get(other_id)
    if one is None or other is None:
        return None
    difference, margin = posterior.difference(one, other)
    chances = posterior.outcomes.between(posterior.elo[one], posterior.elo[other])
    return Expectation(
        difference=difference,
        margin=margin,
        superiority=float(posterior.superiority(np.array([one]), np.array([other]))[0]),
        score_as_black=float(chances.score(difference)),
        score_as_white=1 - float(chances.score(-difference)),
    )


def newest_rated(rows: Iterable[Standing], bot_id: BotId) -> BotVersionId | None:
    """The bot's newest version in the standings; ``None`` where it has none there."""
    return max((row.version_id for row in rows if row.bot_id == bot_id), default=None)

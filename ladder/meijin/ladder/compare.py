"""Comparison of any two bots of a ladder: by its published run, and by their games."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from meijin.ladder.posterior import RatingPosterior
from meijin.store.ladders.rated_games import PairCount
from meijin.store.ladders.runs import NO_GAMES, Score, Standing
from meijin.store.schema import BotId, BotVersionId


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
    scores: dict[tuple[BotVersionId, BotVersionId], Score] = defaultdict(lambda: NO_GAMES)
    for pair in counts:
        score = Score(pair.wins, pair.draws, pair.losses)
        scores[pair.black_id, pair.white_id] += score
        scores[pair.white_id, pair.black_id] += score.reversed
    return scores


def total(counts: Iterable[PairCount]) -> Score:
    """What those with black scored altogether."""
    return sum((Score(pair.wins, pair.draws, pair.losses) for pair in counts), NO_GAMES)


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

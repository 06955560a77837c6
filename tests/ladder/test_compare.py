"""What a run and its games say of any two bots."""

import numpy as np
import pytest

from meijin.ladder.compare import compare_all, expectation, newest_rated, total
from meijin.ladder.posterior import RatingPosterior
from meijin.ladder.statistics.fit.bradley_terry import Outcomes
from meijin.ladder.statistics.fit.covariance import DenseCovariance
from meijin.store.ladders.rated_games import PairCount
from meijin.store.ladders.runs import Line, Score, Standing
from meijin.store.schema import BotId, BotVersionId

ELOS = (1600.0, 1550.0, 1400.0)


def pair(black: int, white: int, *counts: int) -> PairCount:
    """Games between two versions, by black's results."""
    return PairCount(BotVersionId(black), BotVersionId(white), *counts)


def row(rank: int) -> Standing:
    """A line: the first and the second are versions 12 and 11 of bot 1, the third is of bot 2."""
    bot, version = ((1, 12), (1, 11), (2, 20))[rank - 1]
    elo = ELOS[rank - 1]
    line = Line(
        rank=rank,
        elo=elo,
        margin=50.0,
        superiority=None,
        classic_elo=elo,
        opponents_elo=1500.0,
        wins_as_black=0,
        draws_as_black=0,
        losses_as_black=0,
        wins_as_white=0,
        draws_as_white=0,
        losses_as_white=0,
        faults=0,
        is_anchor=False,
        is_provisional=False,
        is_linked=True,
    )
    return Standing(BotId(bot), f"bot {bot}", BotVersionId(version), "", line)


ROWS = [row(rank) for rank in (1, 2, 3)]


@pytest.fixture
def posterior() -> RatingPosterior:
    """Three independent ratings, an advantage for black, and no draws."""
    return RatingPosterior(
        [row.version_id for row in ROWS],
        np.array(ELOS),
        DenseCovariance(np.diag([900.0, 900.0, 900.0])),
        Outcomes(20.0, 0.0),
        prior_mean=0.0,
        lineage=150.0,
    )


def test_a_matrix_is_antisymmetric(posterior: RatingPosterior) -> None:
    """Chances and expected scores of two add up to one, and nobody is better than itself."""
    rows = compare_all(ROWS, [0, 1, 2], posterior, [])
    for own, mine in enumerate(rows):
        for other, cell in enumerate(mine.cells):
            back = rows[other].cells[own]
            assert cell.superiority + back.superiority == pytest.approx(1)
            assert cell.expected_score + back.expected_score == pytest.approx(1)
        assert mine.cells[own].superiority == pytest.approx(0.5)
    assert [cell.superiority for cell in rows[0].cells] == sorted(
        cell.superiority for cell in rows[0].cells
    )


def test_a_matrix_has_the_chosen_rows_and_their_games(posterior: RatingPosterior) -> None:
    """In the order of the standings; colours together."""
    games = [pair(12, 20, 3, 1, 0), pair(20, 12, 1, 0, 2)]
    first, second = compare_all(ROWS, [0, 2], posterior, games)
    assert (first.standing, second.standing) == (ROWS[0], ROWS[2])
    assert first.cells[1].score == Score(5, 1, 1)
    assert second.cells[0].score == Score(1, 1, 5)
    assert first.cells[0].score == Score(0, 0, 0)
    whole = compare_all(ROWS, [0, 1, 2], posterior, games)
    assert first.cells[1] == whole[0].cells[2]


def test_scores_add_up() -> None:
    """Of whichever versions had black."""
    games = [pair(11, 20, 3, 1, 0), pair(12, 20, 1, 0, 0), pair(12, 21, 1, 2, 3)]
    assert total(games) == Score(5, 3, 3)
    assert total([]) == Score(0, 0, 0)


def test_the_newest_rated_version() -> None:
    """Of those in the standings, whatever their ranks."""
    assert newest_rated(ROWS, BotId(1)) == 12
    assert newest_rated(ROWS, BotId(3)) is None


def test_an_expectation_is_of_two_versions(posterior: RatingPosterior) -> None:
    """The difference has the error of both, and black has an advantage."""
    found = expectation(ROWS, posterior, BotVersionId(12), BotVersionId(20))
    assert found is not None
    assert found.difference == 200.0
    assert found.margin == pytest.approx(1.96 * (900 + 900) ** 0.5, rel=1e-3)
    assert found.superiority > 0.99
    assert found.score_as_black > found.score_as_white > 0.5


@pytest.mark.parametrize("versions", [(12, 30), (30, 12)])
def test_nothing_is_expected_of_who_is_not_in_the_standings(
    posterior: RatingPosterior, versions: tuple[int, int]
) -> None:
    """Whichever of the two it is."""
    one, other = map(BotVersionId, versions)
    assert expectation(ROWS, posterior, one, other) is None

"""The posterior of a published run, and its preview by the games since."""

import math
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Connection
from tests.store.league import BLACK, NOON, WHITE, League

from meijin.ladder.posterior import (
    RatingPosterior,
    compare_all,
    expectation,
    newest_rated,
    preview,
    total,
)
from meijin.ladder.refresh import refresh
from meijin.ladder.statistics.fit.bradley_terry import Outcomes
from meijin.ladder.statistics.fit.covariance import Z_95, Covariance
from meijin.store.ladders.games import PairCount, results_since
from meijin.store.ladders.runs import Standing, covariances, standings
from meijin.store.schema import BotId, BotVersionId, Score


def published(league: League, *, with_covariances: bool = True) -> RatingPosterior:
    def read(connection: Connection) -> RatingPosterior:
        table = standings(connection, league.ladder_id)
        kept = covariances(connection, league.ladder_id) if with_covariances else None
        return RatingPosterior.of(table, kept)

    return league.database.read(read)


def run(league: League) -> None:
    assert refresh(league.database, league.ladder_id, lambda: NOON)


def test_it_follows_the_standings(any_league: League) -> None:
    """Best first, with the differences' errors of the whole covariance."""
    any_league.finish_random(300)
    run(any_league)
    known = published(any_league)
    table = any_league.database.read(lambda connection: standings(connection, any_league.ladder_id))
    assert list(known.versions) == [row.version_id for row in table.standings]
    assert known.elo.tolist() == [row.elo for row in table.standings]
    for place, row in enumerate(table.standings[:-1]):
        chance = known.superiority(np.array([place]), np.array([place + 1]))
        assert chance == pytest.approx(row.superiority, abs=1e-3)
        difference, margin = known.difference(place, place + 1)
        assert difference == pytest.approx(row.elo - table.standings[place + 1].elo)
        assert 0 < margin < row.margin + table.standings[place + 1].margin


def test_without_covariances_errors_are_independent(league: League) -> None:
    """A difference's variance is the sum of both."""
    league.finish_random(300)
    run(league)
    known = published(league, with_covariances=False)
    table = league.database.read(lambda connection: standings(connection, league.ladder_id))
    margins = [row.margin for row in table.standings[:2]]
    assert known.difference(0, 1)[1] == pytest.approx(math.hypot(*margins))
    assert known.covariance.of_differences(np.array([0]), np.array([0])) == pytest.approx(0)
    assert margins[0] > Z_95


def test_a_preview_is_near_the_next_run(league: League) -> None:
    """Ten games more are taken in to a few Elo; that of a stranger to the run says nothing."""
    league.finish_random(400)
    run(league)
    known = published(league)
    before = dict(zip(known.versions, known.elo.tolist(), strict=True))
    league.finish(*[(0, 1, BLACK), (1, 0, WHITE), (0, 2, BLACK), (3, 0, WHITE), (0, 4, BLACK)] * 2)
    games = league.database.read(
        lambda connection: results_since(connection, league.ladder_id, 400, limit=1000)
    )
    assert len(games) == 10
    stranger = (BotVersionId(10**9), league.versions[1], 1.0)
    games = [*games, stranger]
    seen = dict(zip(known.versions, preview(known, games).tolist(), strict=True))
    run(league)
    after = published(league)
    winner = league.versions[0]
    assert seen[winner] > before[winner] + 5
    for version, elo in zip(after.versions, after.elo.tolist(), strict=True):
        assert seen[version] == pytest.approx(elo, abs=6)


ELOS = (1600.0, 1550.0, 1400.0)


def pair(black: int, white: int, *counts: int) -> PairCount:
    """Games between two versions, by black's results."""
    return PairCount(BotVersionId(black), BotVersionId(white), *counts)


def row(rank: int) -> Standing:
    """A line: the first and the second are versions 12 and 11 of bot 1, the third is of bot 2."""
    bot, version = ((1, 12), (1, 11), (2, 20))[rank - 1]
    told: dict[str, Any] = {
        "bot_id": bot,
        "version_id": version,
        "rank": rank,
        "elo": ELOS[rank - 1],
    }
    return Standing(**{each.name: told.get(each.name, 0) for each in fields(Standing)})


ROWS = [row(rank) for rank in (1, 2, 3)]


@pytest.fixture
def posterior() -> RatingPosterior:
    """Three independent ratings, an advantage for black, and no draws."""
    return RatingPosterior(
        [row.version_id for row in ROWS],
        np.array(ELOS),
        Covariance(np.diag([900.0, 900.0, 900.0])),
        Outcomes(20.0, 0.0),
        prior_mean=0.0,
        lineage=150.0,
    )


def test_a_matrix_has_the_chosen_rows_and_their_games(posterior: RatingPosterior) -> None:
    """In the order of the standings, colours together; of two, chances and scores add up to one."""
    games = [pair(12, 20, 3, 1, 0), pair(20, 12, 1, 0, 2)]
    first, second = compare_all(ROWS, [0, 2], posterior, games)
    assert (first.standing, second.standing) == (ROWS[0], ROWS[2])
    assert first.cells[1].score == Score(5, 1, 1)
    assert second.cells[0].score == Score(1, 1, 5)
    assert first.cells[0].score == Score(0, 0, 0)
    whole = compare_all(ROWS, [0, 1, 2], posterior, games)
    assert first.cells[1] == whole[0].cells[2]
    for own, mine in enumerate(whole):
        for cell, other in zip(mine.cells, whole, strict=True):
            back = other.cells[own]
            assert cell.superiority + back.superiority == pytest.approx(1)
            assert cell.expected_score + back.expected_score == pytest.approx(1)
    chances = [cell.superiority for cell in whole[0].cells]
    assert chances == sorted(chances)
    assert chances[0] == pytest.approx(0.5)


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
    """The difference has the error of both, black has an advantage, and of strangers there is none."""
    found = expectation(ROWS, posterior, BotVersionId(12), BotVersionId(20))
    assert found is not None
    assert found.difference == 200.0
    assert found.margin == pytest.approx(1.96 * (900 + 900) ** 0.5, rel=1e-3)
    assert found.superiority > 0.99
    assert found.score_as_black > found.score_as_white > 0.5
    for stranger in ((12, 30), (30, 12)):
        assert expectation(ROWS, posterior, *map(BotVersionId, stranger)) is None

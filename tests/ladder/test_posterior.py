"""The posterior of a published run, and its preview by the games since."""

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
import pytest
from sqlalchemy import Connection

from meijin.game import Result
from meijin.ladder.posterior import RatingPosterior, preview
from meijin.ladder.refresh import refresh
from meijin.ladder.statistics.fit.covariance import Z_95
from meijin.store.ladders.rated_games import results_since
from meijin.store.ladders.runs import covariances, standings

if TYPE_CHECKING:
    from tests.store.league import League

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
BLACK, WHITE = Result.BLACK_WINS, Result.WHITE_WINS


def published(league: "League", *, with_covariances: bool = True) -> RatingPosterior:
    """The posterior of the league's run."""

    def read(connection: Connection) -> RatingPosterior:
        table = standings(connection, league.ladder_id)
        kept = covariances(connection, league.ladder_id) if with_covariances else None
        return RatingPosterior.of(table, kept)

    return league.database.read(read)


def run(league: "League") -> None:
    """Publish."""
    assert refresh(league.database, league.ladder_id, lambda: NOON)


def test_it_follows_the_standings(any_league: "League") -> None:
    """Best first, with the differences' errors of the whole covariance."""
    any_league.finish_random(300)
    run(any_league)
    known = published(any_league)
    table = any_league.database.read(lambda connection: standings(connection, any_league.ladder_id))
    assert list(known.versions) == [row.version_id for row in table.standings]
    assert known.elo.tolist() == [row.line.elo for row in table.standings]
    for place, row in enumerate(table.standings[:-1]):
        chance = known.superiority(np.array([place]), np.array([place + 1]))
        assert chance == pytest.approx(row.line.superiority, abs=1e-3)
        difference, margin = known.difference(place, place + 1)
        assert difference == pytest.approx(row.line.elo - table.standings[place + 1].line.elo)
        assert 0 < margin < row.line.margin + table.standings[place + 1].line.margin


def test_without_covariances_errors_are_independent(league: "League") -> None:
    """A difference's variance is the sum of both."""
    league.finish_random(300)
    run(league)
    known = published(league, with_covariances=False)
    table = league.database.read(lambda connection: standings(connection, league.ladder_id))
    margins = [row.line.margin for row in table.standings[:2]]
    assert known.difference(0, 1)[1] == pytest.approx(math.hypot(*margins))
    assert known.covariance.of_differences(np.array([0]), np.array([0])) == pytest.approx(0)
    assert margins[0] > Z_95


def test_a_preview_is_near_the_next_run(league: "League") -> None:
    """Ten games more are taken in to a few Elo."""
    league.finish_random(400)
    run(league)
    known = published(league)
    before = dict(zip(known.versions, known.elo.tolist(), strict=True))
    league.finish(*[(0, 1, BLACK), (1, 0, WHITE), (0, 2, BLACK), (3, 0, WHITE), (0, 4, BLACK)] * 2)
    games = league.database.read(
        lambda connection: results_since(connection, league.ladder_id, 400, limit=1000)
    )
    assert len(games) == 10
    seen = dict(zip(known.versions, preview(known, games).tolist(), strict=True))
    run(league)
    after = published(league)
    winner = league.versions[0]
    assert seen[winner] > before[winner] + 5
    for version, elo in zip(after.versions, after.elo.tolist(), strict=True):
        assert seen[version] == pytest.approx(elo, abs=6)


def test_games_of_strangers_say_nothing(league: "League") -> None:
    """A version that the run does not have changes nobody's preview."""
    league.finish_random(100)
    run(league)
    known = published(league)
    stranger = league.renew(0, "2.0")
    games = [(stranger, league.versions[1], 1.0)]
    assert preview(known, games) == pytest.approx(known.elo)

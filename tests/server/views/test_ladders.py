"""Ladders as they are shown."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
from tests.store.league import League
from tests.store.made_up import publish, run_of

from meijin.game import Result
from meijin.ladder.posterior import RatingPosterior
from meijin.ladder.refresh import refresh
from meijin.server.views.ladders import head_to_head, ladder_table, matrix
from meijin.store import Database
from meijin.store.ladders.results import ColorScores
from meijin.store.ladders.runs import Standing, covariances, standings
from meijin.store.rows import change_row
from meijin.store.schema import Bot, Record, RunParameters, Score

BLACK, WHITE, DRAW = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW
T = TypeVar("T")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database(f"sqlite:///{tmp_path / 'meijin.db'}") as opened:
        Record.metadata.create_all(opened.writer)
        yield opened


@pytest.fixture
def published(database: Database) -> League:
    """Five bots in a run, the second and the last of which are hidden by now."""
    league = League(database)
    run = replace(run_of(league, 1), covariances=None, parameters=RunParameters())
    assert publish(league, run)
    for number in (1, 4):
        database.write(change_row, Bot, league.bots[number], is_hidden=True)
    return league


@pytest.fixture
def renewed(database: Database) -> League:
    """A run of five bots with random games, of which two have come back with new versions."""
    league = League(database)
    league.finish_random(200, seed=1)
    for number in (1, 2):
        league.renew(number, f"{number}.1")
    league.finish_random(200, seed=2)
    assert refresh(database, league.ladder_id) is not None
    return league


def read(league: League, view: Callable[..., T], **more: object) -> T:
    return league.database.read(view, ladder=league.name, **more)


def shown(league: League, **more: object) -> list[Standing]:
    return list(read(league, ladder_table, **more).standings)


def test_head_to_head_counts_all_versions(database: Database) -> None:
    """From the bot's side, by its colour; neither repeats nor void games."""
    league = League(database)
    league.finish((0, 1, BLACK), (0, 1, DRAW), (1, 0, BLACK), (0, 2, WHITE))
    for number in (0, 1):
        league.renew(number, "2.0")
    league.finish((0, 1, BLACK), (0, 1, WHITE), (1, 0, WHITE), (1, 0, DRAW))
    league.finish((0, 1, DRAW), (0, 1, BLACK), line=(7,))
    league.void(9)
    bots = tuple(f"{league.name}-bot-{number}" for number in (0, 1))
    found = read(league, head_to_head, bots=bots)
    assert found.all_versions == ColorScores(Score(3, 1, 1), Score(1, 1, 1))
    assert (found.version.version, found.opponent_version.version) == ("2.0", "2.0")
    assert found.scores == found.without_faults
    assert found.scores.games < found.all_versions.games
    assert sum(scores.games for _, scores in found.openings) == found.scores.games
    assert (found.expectation, found.elsewhere) == (None, ())


def test_ranks_are_those_among_the_shown(published: League) -> None:
    """Without a gap; of the next, nothing is said where a hidden bot stands between.

    A stored run keeps its ranks, which are verified. A matrix has the table's, and none for a
    hidden bot, which is there when it was asked for.
    """
    names = [f"{published.name}-bot-{number}" for number in range(5)]
    rows = shown(published)
    assert [row.bot for row in rows] == [names[number] for number in (0, 2, 3)]
    assert [row.rank for row in rows] == [1, 2, 3]
    assert [row.superiority for row in rows] == [None, 0.75, None]
    stored = published.database.read(standings, published.ladder_id)
    assert [row.rank for row in stored.standings] == [1, 2, 3, 4, 5]
    for bots, ranks in (((), [1, 2, 3]), (names[1:3], [0, 2])):
        found = read(published, matrix, limit=20, bots=bots)
        assert [row.standing.rank for row in found.rows] == ranks


def test_a_paused_version_is_marked(published: League) -> None:
    """In the published table, and in none of an earlier run."""
    paused = {published.versions[2]}
    table = read(published, ladder_table, paused=paused)
    assert [row.is_paused for row in table.standings] == [False, True, False]
    assert table.run is not None
    assert not any(row.is_paused for row in shown(published, paused=paused, run_id=table.run.id))


def test_the_newest_versions_are_shown_alone(renewed: League) -> None:
    """Unless all are asked for; ranks are those among the shown, and a matrix's likewise."""
    newest, every = (shown(renewed, all_versions=each) for each in (False, True))
    assert {row.version_id for row in newest} == set(renewed.versions)
    assert [row.rank for row in newest] == [1, 2, 3, 4, 5]
    assert [row.rank for row in every] == [1, 2, 3, 4, 5, 6, 7]
    order = [row.version_id for row in every]
    places = [order.index(row.version_id) for row in newest]
    assert places == sorted(places)
    one = f"{renewed.name}-bot-1"
    for bots, is_all, rows in (
        ((), False, 5),
        ((), True, 7),
        ((one,), False, 1),
        ((one,), True, 2),
    ):
        found = read(renewed, matrix, limit=20, bots=bots, all_versions=is_all)
        assert len(found.rows) == rows


def test_a_chance_is_that_over_the_next_shown(renewed: League) -> None:
    """By the covariances where others stand between the two, which an earlier run has not."""
    found = read(renewed, ladder_table)
    assert found.run is not None
    table = renewed.database.read(standings, renewed.ladder_id)
    posterior = RatingPosterior.of(table, renewed.database.read(covariances, renewed.ladder_id))
    order = [row.version_id for row in table.standings]
    pairs = list(pairwise(order.index(row.version_id) for row in found.standings))
    assert any(other != one + 1 for one, other in pairs)
    wanted = [posterior.superiority(np.array([one]), np.array([other]))[0] for one, other in pairs]
    chances = [row.superiority for row in found.standings]
    assert chances == [*(pytest.approx(chance, abs=1e-3) for chance in wanted), None]
    renewed.finish_random(50, seed=3)
    assert refresh(renewed.database, renewed.ladder_id) is not None
    earlier = [row.superiority is None for row in shown(renewed, run_id=found.run.id)]
    assert earlier == [*(other != one + 1 for one, other in pairs), True]


def test_an_anchor_is_shown_whatever_came_after_it(database: Database) -> None:
    league = League(database, bots=3)
    anchor = league.versions[0]
    league.set_anchors(0)
    league.finish_random(50, seed=1)
    league.renew(0, "2.0")
    league.finish_random(50, seed=2)
    assert refresh(database, league.ladder_id) is not None
    assert {row.version_id for row in shown(league)} == {anchor, *league.versions}


def test_equal_ratings_share_a_rank(database: Database) -> None:
    """Who comes behind them is counted on from their number."""
    league = League(database, bots=3)
    league.finish((0, 1, BLACK), (1, 0, BLACK), (0, 2, BLACK), (1, 2, BLACK), (2, 0, WHITE))
    league.finish((2, 1, WHITE))
    assert refresh(database, league.ladder_id) is not None
    assert [row.rank for row in shown(league)] == [1, 1, 3]

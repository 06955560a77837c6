"""Ladders as they are shown."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from tests.store.league import League
from tests.store.made_up import publish, run_of

from meijin.game import Result
from meijin.ladder.posterior import RatingPosterior
from meijin.ladder.refresh import refresh
from meijin.server.views.ladders import head_to_head, ladder_table, matrix
from meijin.store import Database
from meijin.store.bots import change_bot
from meijin.store.ladders.meetings import ColorScores
from meijin.store.ladders.runs import Score, covariances, standings
from meijin.store.schema import Base

BLACK, WHITE, DRAW = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW


def test_head_to_head_counts_all_versions(tmp_path: Path) -> None:
    """From the bot's side, by its colour; neither repeats nor void games."""
    with Database(f"sqlite:///{tmp_path / 'meijin.db'}") as database:
        Base.metadata.create_all(database.writer)
        league = League(database)
        league.finish((0, 1, BLACK), (0, 1, DRAW), (1, 0, BLACK), (0, 2, WHITE))
        league.renew(0, "2.0")
        league.renew(1, "2.0")
        league.finish((0, 1, BLACK), (0, 1, WHITE), (1, 0, WHITE), (1, 0, DRAW))
        league.finish((0, 1, DRAW), (0, 1, BLACK), line=(7,))
        league.void(9)
        bots = (f"{league.name}-bot-0", f"{league.name}-bot-1")
        found = database.read(lambda connection: head_to_head(connection, league.name, bots))
    assert found.all_versions == ColorScores(Score(3, 1, 1), Score(1, 1, 1))
    assert (found.version.label, found.other.label) == ("2.0", "2.0")
    assert found.scores == found.without_faults
    assert found.scores.games < found.all_versions.games
    assert sum(scores.games for _, scores in found.openings) == found.scores.games
    assert found.expectation is None
    assert found.elsewhere == ()


@pytest.fixture
def published(tmp_path: Path) -> Iterator[League]:
    """Five bots in a run, the second and the last of which are hidden by now."""
    with Database(f"sqlite:///{tmp_path / 'meijin.db'}") as database:
        Base.metadata.create_all(database.writer)
        league = League(database)
        parameters = {"advantage": 0.0, "draws": 0.0, "anchors": []}
        run = replace(run_of(league, 1), covariances=None, parameters=parameters)
        assert publish(league, run)
        for number in (1, 4):
            hide = partial(change_bot, bot_id=league.bots[number], is_hidden=True)
            database.write(hide)
        yield league


def test_ranks_are_those_among_the_shown(published: League) -> None:
    """Without a gap; of the next, nothing is said where a hidden bot stands between."""
    found = published.database.read(partial(ladder_table, ladder=published.name))
    rows = [(row.standing.bot, row.standing.line) for row in found.lines]
    names = [f"{published.name}-bot-{number}" for number in (0, 2, 3)]
    assert [bot for bot, _ in rows] == names
    assert [line.rank for _, line in rows] == [1, 2, 3]
    assert [line.superiority for _, line in rows] == [None, 0.75, None]


def test_a_stored_run_keeps_its_ranks(published: League) -> None:
    """It is what is verified: who is shown is no part of it."""
    found = published.database.read(lambda at: standings(at, published.ladder_id))
    assert [row.line.rank for row in found.standings] == [1, 2, 3, 4, 5]


def test_a_matrix_has_the_tables_ranks(published: League) -> None:
    """And none for a hidden bot, which is there when it was asked for."""
    table = partial(matrix, ladder=published.name, limit=20)
    found = published.database.read(partial(table, bots=()))
    assert [row.standing.line.rank for row in found.rows] == [1, 2, 3]
    names = [f"{published.name}-bot-{number}" for number in (1, 2)]
    found = published.database.read(partial(table, bots=names))
    assert [row.standing.line.rank for row in found.rows] == [0, 2]


def test_a_paused_version_is_marked(published: League) -> None:
    """In the published table, and in none of an earlier run."""
    table = partial(ladder_table, ladder=published.name, paused={published.versions[2]})
    found = published.database.read(table)
    assert [row.is_paused for row in found.lines] == [False, True, False]
    assert found.run is not None
    found = published.database.read(partial(table, run_id=found.run.id))
    assert not any(row.is_paused for row in found.lines)


@pytest.fixture
def renewed(tmp_path: Path) -> Iterator[League]:
    """A run of five bots with random games, of which two have come back with new versions."""
    with Database(f"sqlite:///{tmp_path / 'meijin.db'}") as database:
        Base.metadata.create_all(database.writer)
        league = League(database)
        league.finish_random(200, seed=1)
        for number in (1, 2):
            league.renew(number, f"{number}.1")
        league.finish_random(200, seed=2)
        assert refresh(database, league.ladder_id) is not None
        yield league


def test_the_newest_versions_are_shown_alone(renewed: League) -> None:
    """Unless all are asked for; ranks are those among the shown."""
    show = partial(ladder_table, ladder=renewed.name)
    newest, every = (
        renewed.database.read(partial(show, all_versions=each)) for each in (False, True)
    )
    assert {row.standing.version_id for row in newest.lines} == set(renewed.versions)
    assert [row.standing.line.rank for row in newest.lines] == [1, 2, 3, 4, 5]
    assert [row.standing.line.rank for row in every.lines] == [1, 2, 3, 4, 5, 6, 7]
    order = [row.standing.version_id for row in every.lines]
    places = [order.index(row.standing.version_id) for row in newest.lines]
    assert places == sorted(places)


def test_a_chance_is_that_over_the_next_shown(renewed: League) -> None:
    """By the covariances where others stand between the two, which an earlier run has not."""
    show = partial(ladder_table, ladder=renewed.name)
    found = renewed.database.read(show)
    assert found.run is not None
    table = renewed.database.read(partial(standings, ladder_id=renewed.ladder_id))
    kept = renewed.database.read(partial(covariances, ladder_id=renewed.ladder_id))
    posterior = RatingPosterior.of(table, kept)
    order = [row.version_id for row in table.standings]
    places = [order.index(row.standing.version_id) for row in found.lines]
    pairs = list(pairwise(places))
    assert any(other != one + 1 for one, other in pairs)
    wanted = [posterior.superiority(np.array([one]), np.array([other]))[0] for one, other in pairs]
    chances = [row.standing.line.superiority for row in found.lines]
    assert chances == [*(pytest.approx(chance, abs=1e-3) for chance in wanted), None]
    renewed.finish_random(50, seed=3)
    assert refresh(renewed.database, renewed.ladder_id) is not None
    earlier = renewed.database.read(partial(show, run_id=found.run.id))
    assert [row.standing.line.superiority is None for row in earlier.lines] == [
        *(other != one + 1 for one, other in pairs),
        True,
    ]


def test_an_anchor_is_shown_whatever_came_after_it(tmp_path: Path) -> None:
    """The ratings are relative to it."""
    with Database(f"sqlite:///{tmp_path / 'meijin.db'}") as database:
        Base.metadata.create_all(database.writer)
        league = League(database, bots=3)
        anchor = league.versions[0]
        league.set_anchors(0)
        league.finish_random(50, seed=1)
        league.renew(0, "2.0")
        league.finish_random(50, seed=2)
        assert refresh(database, league.ladder_id) is not None
        found = database.read(partial(ladder_table, ladder=league.name))
    shown = {row.standing.version_id for row in found.lines}
    assert shown == {anchor, *league.versions}


def test_a_matrix_has_the_tables_versions(renewed: League) -> None:
    """Of the bots that are named too, unless all are asked for."""
    table = partial(matrix, ladder=renewed.name, limit=20)
    one = f"{renewed.name}-bot-1"
    for bots, every, rows in (((), False, 5), ((), True, 7), ((one,), False, 1), ((one,), True, 2)):
        found = renewed.database.read(partial(table, bots=bots, all_versions=every))
        assert len(found.rows) == rows


def test_equal_ratings_share_a_rank(tmp_path: Path) -> None:
    """Who comes behind them is counted on from their number."""
    with Database(f"sqlite:///{tmp_path / 'meijin.db'}") as database:
        Base.metadata.create_all(database.writer)
        league = League(database, bots=3)
        league.finish((0, 1, BLACK), (1, 0, BLACK), (0, 2, BLACK), (1, 2, BLACK), (2, 0, WHITE))
        league.finish((2, 1, WHITE))
        assert refresh(database, league.ladder_id) is not None
        found = database.read(partial(ladder_table, ladder=league.name))
    assert [row.standing.line.rank for row in found.lines] == [1, 1, 3]

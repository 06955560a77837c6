"""Ladders as they are shown."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from tests.store.league import League
from tests.store.made_up import publish, run_of

from meijin.game import Result
from meijin.server.views.ladders import head_to_head, ladder_table, matrix
from meijin.store import Database
from meijin.store.bots import change_bot
from meijin.store.ladders.meetings import ColorScores
from meijin.store.ladders.runs import Score, standings
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

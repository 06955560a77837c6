"""Results of bots: counted over their newest games, whatever their versions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.query_plans import plans
from tests.store.league import NOON, League

from meijin.game import Ending, Result, decode_moves
from meijin.store import Database, bot_results
from meijin.store.bot_results import BotResults, OpponentResults
from meijin.store.bots import change_bot, newest_versions
from meijin.store.ladders.meetings import ColorScores
from meijin.store.ladders.runs import NO_GAMES, Score
from meijin.store.schema import GameState

BLACK, WHITE, DRAW = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW


@pytest.fixture
def league(tmp_path: Path) -> Iterator[League]:
    """Five bots without a game."""
    with Database(f"sqlite:///{tmp_path / 'meijin.db'}") as database:
        database.migrate()
        yield League(database)


def results_of(league: League, number: int) -> BotResults:
    """What a bot's games have come to."""
    return league.database.read(
        lambda connection: bot_results.bot_results(
            connection, newest_versions(connection, league.bots[number], 100)
        )
    )


def test_colours_add_up(league: League) -> None:
    """Of all versions; what is running, void, or between others counts for nothing."""
    league.finish((0, 1, BLACK), (1, 0, BLACK), (1, 2, WHITE))
    league.renew(0, "2.0")
    league.finish((2, 0, WHITE), (0, 2, DRAW), (0, 1, WHITE))
    league.add_unrated(GameState.RUNNING)
    league.void(6)
    found = results_of(league, 0)
    assert found.scores == ColorScores(Score(1, 1, 0), Score(1, 0, 1))
    assert found.since is None


def test_a_bot_without_games(league: League) -> None:
    """Has no results of any kind."""
    assert results_of(league, 0) == BotResults(None, ColorScores(), (), (), ())


def test_openings_with_their_stones(league: League) -> None:
    """The most played first, from the bot's side."""
    league.finish((0, 1, BLACK), line=(7, 8, 1), opening_plies=1)
    league.finish((0, 1, BLACK), (1, 0, WHITE), line=(5, 6, 1), opening_plies=2)
    league.finish((1, 0, DRAW), line=(5, 6, 2), opening_plies=2)
    found = results_of(league, 0).openings
    assert [tuple(decode_moves(each.opening)) for each in found] == [(5, 6), (7,)]
    assert found[0].scores == ColorScores(Score(1, 0, 0), Score(1, 1, 0))


def test_endings_say_who_was_at_fault(league: League) -> None:
    """Forfeits of the bot apart from those of its opponents, whatever the colours."""
    league.finish((0, 1, WHITE), (1, 0, BLACK), (0, 1, BLACK), forfeit=True)
    league.finish((0, 1, DRAW))
    by_time, five = results_of(league, 0).endings
    assert (by_time.ending, by_time.score) == (Ending.TIME, Score(1, 0, 2))
    assert (by_time.own_faults, by_time.opponents_faults) == (2, 1)
    assert (five.ending, five.own_faults) == (Ending.FIVE, 0)


def test_opponents_most_met(league: League) -> None:
    """All their versions together; a hidden one is left out, and counts for the rest."""
    league.finish((0, 1, BLACK), (2, 0, BLACK), (0, 3, BLACK), (0, 3, BLACK), (0, 3, BLACK))
    league.renew(2, "2.0")
    league.finish((2, 0, BLACK))
    league.database.write(lambda connection: change_bot(connection, league.bots[3], is_hidden=True))
    found = results_of(league, 0)
    assert found.opponents == (
        OpponentResults(f"{league.name}-bot-2", ColorScores(NO_GAMES, Score(0, 0, 2))),
        OpponentResults(f"{league.name}-bot-1", ColorScores(Score(1, 0, 0))),
    )
    assert found.scores.games == 6


def test_only_the_newest_games_are_read(league: League, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all versions and both colours; the answer says since when."""
    league.finish((0, 1, BLACK))
    league.renew(0, "2.0")
    league.finish((1, 0, BLACK), (0, 1, DRAW))
    monkeypatch.setattr(bot_results, "MAX_GAMES", 3)
    assert results_of(league, 0).since is None
    monkeypatch.setattr(bot_results, "MAX_GAMES", 2)
    found = results_of(league, 0)
    assert found.since == NOON
    assert found.scores == ColorScores(Score(0, 1, 0), Score(0, 0, 1))
    league.renew(0, "3.0")
    league.finish((0, 1, WHITE))
    assert results_of(league, 0).scores == ColorScores(Score(0, 1, 1))


def test_everything_on_every_database(any_database_url: str) -> None:
    """Colours, openings, endings, opponents, and the bound on games."""
    with Database(any_database_url) as database:
        database.migrate()
        league = League(database)
        league.finish((0, 1, WHITE), (1, 0, BLACK), line=(5, 6, 1), opening_plies=2, forfeit=True)
        league.finish((2, 0, DRAW))
        found = results_of(league, 0)
    assert found.scores == ColorScores(Score(0, 0, 1), Score(0, 1, 1))
    assert [each.scores.games for each in found.openings] == [2, 1]
    assert [each.own_faults for each in found.endings] == [2, 0]
    assert [each.scores.games for each in found.opponents] == [2, 1]


def test_games_are_found_by_the_indexes_of_the_colours(league: League) -> None:
    """No look reads all games of the server."""
    league.finish_random(50)
    with plans(league.database) as found:
        results_of(league, 0)
    assert not [plan for plan in found if "SCAN game" in plan]
    assert any("game_of_black" in plan for plan in found)

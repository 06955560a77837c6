"""Results of bots: counted over their newest games, whatever their versions."""

import pytest
from tests.store.league import NOON, League

from meijin.game import Ending, Result, decode_moves
from meijin.store.bots import newest_versions
from meijin.store.ladders import results
from meijin.store.ladders.results import BotResults, ColorScores, OpponentResults
from meijin.store.rows import change_row
from meijin.store.schema import Bot, GameState, Score

BLACK, WHITE, DRAW = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW


def results_of(league: League, number: int) -> BotResults:
    return league.database.read(
        lambda connection: results.bot_results(
            connection, newest_versions(connection, league.bots[number], 100)
        )
    )


def test_colours_add_up(any_league: League) -> None:
    """Of all versions; what is running, void, or between others counts for nothing."""
    assert results_of(any_league, 0) == BotResults(None, ColorScores(), (), (), ())
    any_league.finish((0, 1, BLACK), (1, 0, BLACK), (1, 2, WHITE))
    any_league.renew(0, "2.0")
    any_league.finish((2, 0, WHITE), (0, 2, DRAW), (0, 1, WHITE))
    any_league.add_unrated(GameState.RUNNING)
    any_league.void(6)
    found = results_of(any_league, 0)
    assert found.scores == ColorScores(Score(1, 1, 0), Score(1, 0, 1))
    assert found.since is None


def test_openings_with_their_stones(any_league: League) -> None:
    """The most played first, from the bot's side."""
    any_league.finish((0, 1, BLACK), line=(7, 8, 1), opening_plies=1)
    any_league.finish((0, 1, BLACK), (1, 0, WHITE), line=(5, 6, 1), opening_plies=2)
    any_league.finish((1, 0, DRAW), line=(5, 6, 2), opening_plies=2)
    found = results_of(any_league, 0).openings
    assert [tuple(decode_moves(each.opening)) for each in found] == [(5, 6), (7,)]
    assert found[0].scores == ColorScores(Score(1, 0, 0), Score(1, 1, 0))


def test_endings_say_who_was_at_fault(any_league: League) -> None:
    """Forfeits of the bot apart from those of its opponents, whatever the colours."""
    any_league.finish((0, 1, WHITE), (1, 0, BLACK), (0, 1, BLACK), forfeit=True)
    any_league.finish((0, 1, DRAW))
    by_time, five = results_of(any_league, 0).endings
    assert (by_time.ending, by_time.score) == (Ending.TIME, Score(1, 0, 2))
    assert (by_time.own_faults, by_time.opponents_faults) == (2, 1)
    assert (five.ending, five.own_faults) == (Ending.FIVE, 0)


def test_opponents_most_met(any_league: League) -> None:
    """All their versions together; a hidden one is left out, and counts for the rest."""
    any_league.finish((0, 1, BLACK), (2, 0, BLACK), (0, 3, BLACK), (0, 3, BLACK), (0, 3, BLACK))
    any_league.renew(2, "2.0")
    any_league.finish((2, 0, BLACK))
    any_league.database.write(change_row, Bot, any_league.bots[3], is_hidden=True)
    found = results_of(any_league, 0)
    assert found.opponents == (
        OpponentResults(f"{any_league.name}-bot-2", ColorScores(Score(), Score(0, 0, 2))),
        OpponentResults(f"{any_league.name}-bot-1", ColorScores(Score(1, 0, 0))),
    )
    assert found.scores.games == 6


def test_only_the_newest_games_are_read(league: League, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all versions and both colours; the answer says since when."""
    league.finish((0, 1, BLACK))
    league.renew(0, "2.0")
    league.finish((1, 0, BLACK), (0, 1, DRAW))
    monkeypatch.setattr(results, "MAX_GAMES", 3)
    assert results_of(league, 0).since is None
    monkeypatch.setattr(results, "MAX_GAMES", 2)
    found = results_of(league, 0)
    assert found.since == NOON
    assert found.scores == ColorScores(Score(0, 1, 0), Score(0, 0, 1))
    league.renew(0, "3.0")
    league.finish((0, 1, WHITE))
    assert results_of(league, 0).scores == ColorScores(Score(0, 1, 1))

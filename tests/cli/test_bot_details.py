"""One bot on the screen."""

from datetime import UTC, datetime, timedelta

import pytest
from rich.table import Table

from meijin.cli.bot_details import bot_lines, result_tables, results_note, version_table
from meijin.v1 import bot_service_pb2 as pb
from meijin.v1 import game_pb2
from meijin.v1.ladder_service_pb2 import ColorScores, Score
from meijin.v1.play_service_pb2 import Capabilities

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
SCORES = ColorScores(as_black=Score(wins=2, losses=1), as_white=Score(draws=1))


def rows(made: Table) -> list[list[str]]:
    """The cells of a table's rows."""
    return [list(map(str, row)) for row in zip(*(each.cells for each in made.columns), strict=True)]


def test_who_it_is() -> None:
    """What people call it, whose it is, whether it is there, what it is rated and runs on."""
    bot = pb.Bot(name="ada", display_name="Ada L.", owner="eve", games=1, hardware="8 cores")
    bot.connected, bot.running_games, bot.nodes_per_second = True, 2, 1_000_000
    bot.capabilities.CopyFrom(Capabilities(max_games=4))
    bot.rating, bot.ladder = 1612.4, "freestyle-15x15-blitz"
    assert list(bot_lines(bot, NOW)) == [
        "Ada L. (ada), of eve",
        "connected, plays 2 of 4 at once",
        "1 game, Elo 1612 on ladder freestyle-15x15-blitz",
        "8 cores, 1.00M nodes/s",
    ]


@pytest.mark.parametrize(("hours", "words"), [(None, "away"), (3, "away, seen 3 h ago")])
def test_who_is_away(hours: int | None, words: str) -> None:
    """Says since when, where that is known."""
    bot = pb.Bot(name="ada")
    if hours is not None:
        bot.last_seen_time.FromDatetime(NOW - timedelta(hours=hours))
    assert list(bot_lines(bot, NOW)) == ["ada", words, "0 games"]


def test_versions_with_their_lineage() -> None:
    """By their labels; one without a label, or that is not shown, by its id."""
    newest = pb.BotVersion(version_id="9", version="2.0", parent_version_id="8")
    newest.rating, newest.margin, newest.rated_games = 1500.4, 20.6, 7
    listed = [
        newest,
        pb.BotVersion(version_id="8", parent_version_id="5"),
    ]
    assert rows(version_table(pb.Bot(name="ada"), listed)) == [
        ["2.0", "id 8", "1970-01-01 00:00", "", "1500", "21", "7"],
        ["id 8", "id 5", "1970-01-01 00:00", "", "", "", ""],
    ]


def test_results_in_tables() -> None:
    """By colour, opponent, ending and opening."""
    ending = pb.BotEnding(ending=game_pb2.ENDING_TIME, score=Score(losses=2), own_faults=2)
    found = pb.BotResults(
        games=4,
        scores=SCORES,
        openings=[pb.BotOpening(scores=SCORES)],
        endings=[ending],
        opponents=[pb.BotOpponent(bot="bob", scores=SCORES)],
    )
    colors, opponents, endings, openings = map(rows, result_tables(found))
    assert colors == [
        ["black", "3", "2-0-1", "66.7%"],
        ["white", "1", "0-1-0", "50.0%"],
        ["both", "4", "2-1-1", "62.5%"],
    ]
    assert opponents == [["bob", "4", "2-0-1", "0-1-0", "62.5%"]]
    assert endings == [["time", "2", "0-0-2", "2", "0"]]
    assert openings == [["empty board", "4", "2-0-1", "0-1-0", "62.5%"]]


def test_which_games_are_counted() -> None:
    """All, or the newest since a time."""
    found = pb.BotResults(games=4)
    assert results_note(found) == "4 games with a result"
    found.since.FromDatetime(NOW)
    assert results_note(found) == "the newest 4 games with a result, since 2026-03-04 12:00 (UTC)"

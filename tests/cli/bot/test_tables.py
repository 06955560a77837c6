from datetime import UTC, datetime, timedelta

import pytest
from tests.cli.shown import cells, printed

from meijin.cli.bot.tables import (
    age_text,
    bot_lines,
    bot_table,
    lineage_table,
    result_tables,
    results_note,
)
from meijin.v1 import bot_service_pb2 as pb
from meijin.v1 import game_pb2
from meijin.v1.ladder_service_pb2 import ColorScores, Score
from meijin.v1.play_service_pb2 import Capabilities

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
SCORES = ColorScores(as_black=Score(wins=2, losses=1), as_white=Score(draws=1))


def seen(name: str, hours: float | None = None) -> pb.Bot:
    bot = pb.Bot(name=name)
    if hours is not None:
        bot.last_seen_time.FromDatetime(NOW - timedelta(hours=hours))
    return bot


def test_a_list_has_what_bots_have_come_to() -> None:
    """A rating where a run has one, and what it plays now while it is there."""
    ada = pb.Bot(name="ada", version="1.2", owner="grace", games=17, rating=1234.5)
    ada.connected, ada.running_games, ada.nodes_per_second = True, 3, 1_230_000
    ada.capabilities.CopyFrom(Capabilities(max_games=64))
    assert cells(bot_table([ada, seen("bob", 30), seen("carl")], NOW)) == [
        "ada|1.2|grace|connected||1234|17|3|64|1.23M",
        "bob|||1 d ago|||0|||",
        "carl|||away|||0|||",
    ]

    bob = pb.Bot(name="bob", configuration=["depth=4", "nodes=9"])
    assert cells(bot_table([bob, seen("carl")], NOW)) == [
        "bob|||away||depth=4 nodes=9||0|||",
        "carl|||away||||0|||",
    ]

    named = [pb.Bot(name="ada", display_name="名人"), pb.Bot(name="eve")]
    assert [row[:7] for row in cells(bot_table(named, NOW))] == ["ada|名人|", "eve||||"]


@pytest.mark.parametrize("state", ["paused", "unexamined", "connected"])
def test_who_gets_no_games_is_seen(state: str) -> None:
    bot = pb.Bot(name="ada", connected=True)
    setattr(bot, state, True)
    assert cells(bot_table([bot], NOW))[0].split("|")[3] == state


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.5, "now"), (59, "59 s ago"), (61, "1 min ago"), (7200, "2 h ago"), (900_000, "10 d ago")],
)
def test_ages(seconds: float, words: str) -> None:
    assert age_text(timedelta(seconds=seconds)) == words


@pytest.mark.parametrize("width", [80, 40])
def test_names_stay_whole_on_a_narrow_screen(width: int) -> None:
    made = bot_table([pb.Bot(name="a-bot-of-some-length", hardware="x" * 90)], NOW)
    text = "\n".join(printed(made, width=width))
    assert "a-bot-of-some-length" in text
    assert "away" in text


def test_who_a_bot_is() -> None:
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
    bot = pb.Bot(name="ada", digest="0123456789abcdef", configuration=["depth=4", "nodes=9"])
    assert list(bot_lines(bot, NOW))[-1] == "digest 0123456789ab, options depth=4 nodes=9"
    assert list(bot_lines(seen("ada"), NOW)) == ["ada", "away", "0 games"]
    assert list(bot_lines(seen("ada", 3), NOW)) == ["ada", "away, seen 3 h ago", "0 games"]


def test_versions_with_their_lineage() -> None:
    newest = pb.BotVersion(version_id="9", version="2.0", name="2.0 #2", parent_version_id="8")
    newest.hardware, newest.threads, newest.deviation = "EPYC", 16, "8 instead of 16 threads"
    newest.rating, newest.margin, newest.rated_games = 1500.4, 20.6, 7
    listed = [newest, pb.BotVersion(version_id="8", parent_version_id="5", threads=1)]
    assert cells(lineage_table(pb.Bot(name="ada"), listed)) == [
        "2.0 #2|id 8|1970-01-01 00:00|EPYC, 16 threads|1500|21|7|8 instead of 16 threads",
        "id 8|id 5|1970-01-01 00:00|1 thread||||",
    ]


def test_results_in_tables() -> None:
    counted = pb.BotResults(games=4)
    assert results_note(counted) == "4 games with a result"
    counted.since.FromDatetime(NOW)
    assert results_note(counted) == "the newest 4 games with a result, since 2026-03-04 12:00 (UTC)"
    ending = pb.BotEnding(ending=game_pb2.ENDING_TIME, score=Score(losses=2), own_faults=2)
    found = pb.BotResults(
        scores=SCORES,
        openings=[pb.BotOpening(scores=SCORES)],
        endings=[ending],
        opponents=[pb.BotOpponent(bot="bob", scores=SCORES)],
    )
    assert list(map(cells, result_tables(found))) == [
        ["black|3|2-0-1|66.7%", "white|1|0-1-0|50.0%", "both|4|2-1-1|62.5%"],
        ["bob|4|2-0-1|0-1-0|62.5%"],
        ["time|2|0-0-2|2|0"],
        ["empty board|4|2-0-1|0-1-0|62.5%"],
    ]

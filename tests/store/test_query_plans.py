"""Queries that SQLite carries out by an index: each costs what it finds, however much is stored."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from tests.query_plans import plans
from tests.store.league import NOON, League

from meijin.game import STANDARD, Ending
from meijin.store import bots, games, tournaments
from meijin.store.access.versions import EngineRow, arrive
from meijin.store.faults import fault_groups, fault_times
from meijin.store.ladders import planning, versions
from meijin.store.ladders.days import last_mark
from meijin.store.ladders.games import finished_games, results_since
from meijin.store.ladders.results import bot_results
from meijin.store.schema import (
    BotId,
    BotVersionId,
    FaultKind,
    GameId,
    GameState,
    LadderId,
    OwnerId,
    TournamentId,
)
from meijin.store.tournaments.match_counts import planned_results

LADDER, TOURNAMENT, BOT = LadderId(1), TournamentId(1), BotId(2)
NEITHER = "SCAN|B-TREE"
"""Nothing is read through, nor sorted."""
ENGINE = EngineRow("1.0", "1.0")

RARE = games.NarrowFilter(rule=STANDARD, ending=Ending.CRASH, min_plies=99, opponent=BotId(7))
listed = partial(games.list_games, limit=10, before=9)


@pytest.mark.parametrize(
    ("query", "index", "never"),
    [
        (
            partial(fault_times, bot_id=BOT, kind=FaultKind.STALL, limit=5),
            "version_id=. AND kind=.",
            "SCAN",
        ),
        (partial(fault_groups, limit=9), "COVERING INDEX fault_signature", "SCAN fault$"),
        (
            lambda at: [*finished_games(at, LADDER, after=7)],
            "game_order .* AND end_sequence<.",
            NEITHER,
        ),
        (partial(last_mark, ladder_id=LADDER), "SEARCH day_tally", NEITHER),
        (
            partial(results_since, ladder_id=LADDER, cutoff=7, limit=9),
            "game_order .*game_fingerprint",
            NEITHER,
        ),
        (
            partial(planning.ladder_state, ladder_id=LADDER, tournament_id=TOURNAMENT),
            "SEARCH day_tally",
            "SCAN game",
        ),
        (partial(planning.planned_games, tournament_id=TOURNAMENT), "SEARCH pairing", "SCAN"),
        (partial(planning.unplayed_games, tournament_id=TOURNAMENT), "SEARCH game", "SCAN"),
        (partial(bot_results, versions=[BotVersionId(1)]), "game_of_black", "SCAN game"),
        (partial(versions.bot_ratings, bots=[BOT]), "SEARCH rating", "SCAN rating"),
        (
            partial(versions.published_ratings, ladder="freestyle-15x15"),
            "bot_version_order",
            "SCAN",
        ),
        (partial(planned_results, tournament_id=TOURNAMENT), "game_once", "SCAN"),
        (
            partial(tournaments.load_of, owner_id=OwnerId(1)),
            r"tournament_not_finished \(state=",
            NEITHER,
        ),
        (
            partial(tournaments.nth_newest, owner_id=OwnerId(1), number=20),
            "tournament_of_owner",
            NEITHER,
        ),
        (
            partial(arrive, bot_id=BOT, engine=ENGINE, now=NOON),
            "bot_id=. AND digest=.",
            NEITHER,
        ),
        (partial(bots.newest_versions, bot_id=BOT, limit=3), "bot_version_order", NEITHER),
        (partial(bots.list_versions, bot_id=BOT, limit=3), "bot_version_order", NEITHER),
        (games.last_game, "SEARCH game", "SCAN"),
        (games.last_end, "game_order", "SCAN game"),
        (partial(listed, tournament_id=TOURNAMENT), "game_of_tournament", NEITHER),
        (partial(listed, state=GameState.RUNNING), "game_not_finished", NEITHER),
        (partial(listed, state=GameState.VOID), "game_not_finished", NEITHER),
        (partial(listed, bot_id=BOT), "game_of_white", "SCAN game|B-TREE"),
        (partial(listed, ladder_id=LADDER), "INTEGER PRIMARY KEY", NEITHER),
        (partial(listed, start_time=NOON, end_time=NOON), "INTEGER PRIMARY KEY", NEITHER),
        (
            partial(listed, narrow=RARE, floor=GameId(3), state=GameState.FINISHED),
            r"game USING INTEGER PRIMARY KEY \(rowid>. AND rowid<.\)",
            NEITHER,
        ),
        (
            partial(listed, narrow=RARE, floor=GameId(3), bot_id=BOT),
            r"game_of_white \(white_id=. AND id>. AND id<.\)",
            "SCAN game|B-TREE",
        ),
        (partial(games.look_floor, before=9, tournament_id=TOURNAMENT), "game_of_tourn", NEITHER),
        (partial(games.look_floor, before=9, bot_id=BOT), "COVERING INDEX game_of_w", "SCAN game"),
    ],
)
def test_queries_search_an_index(
    league: League, query: Callable[..., Any], index: str, never: str
) -> None:
    """A server asks them again and again, and has millions of games."""
    league.finish_random(50)
    with plans(league.database) as found:
        league.database.read(query)
    carried_out = "\n".join(found)
    assert re.search(index, carried_out)
    assert not re.search(never, carried_out)

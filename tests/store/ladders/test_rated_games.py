"""The games that count for a ladder, on SQLite and PostgreSQL."""

from typing import TYPE_CHECKING

from tests.query_plans import plans

from meijin.game import Result
from meijin.store.ladders import rated_games
from meijin.store.ladders.rated_games import PairCount, ScoredGame
from meijin.store.schema import BotVersionId

if TYPE_CHECKING:
    from tests.store.league import League

BLACK, WHITE, DRAW = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW


def test_games_among_some_are_counted(any_league: "League") -> None:
    """Those against anybody else are not; nobody has none."""
    any_league.finish((1, 0, BLACK), (0, 1, WHITE), (0, 2, BLACK), (2, 1, DRAW), (3, 0, WHITE))
    a, b, c = any_league.versions[:3]

    def among(*versions: BotVersionId) -> list[PairCount]:
        return list(
            any_league.database.read(
                lambda connection: rated_games.pair_counts_between(
                    connection, any_league.ladder_id, versions
                )
            )
        )

    assert among(b, a) == [(a, b, 0, 0, 1), (b, a, 1, 0, 0)]
    assert among(c, b) == [(c, b, 0, 1, 0)]
    assert among() == []


def test_results_since_a_run_come_in_order(any_league: "League") -> None:
    """Those that ended after its cut-off, the oldest first, and repeats left out."""
    any_league.finish((0, 1, BLACK), line=(7,))
    any_league.finish((1, 2, DRAW), (0, 1, BLACK), line=(7,))
    any_league.finish((2, 0, WHITE), (0, 2, BLACK))
    a, b, c = any_league.versions[:3]

    def since(cutoff: int, limit: int) -> list[ScoredGame]:
        return list(
            any_league.database.read(
                lambda connection: rated_games.results_since(
                    connection, any_league.ladder_id, cutoff, limit=limit
                )
            )
        )

    assert since(1, 9) == [(b, c, 0.5), (c, a, 0.0), (a, c, 1.0)]
    assert since(2, 1) == [(c, a, 0.0)]
    assert since(5, 9) == []


def test_results_since_a_run_are_not_sorted(league: "League") -> None:
    """The index has their order: else the few since the run would be picked out of all."""
    with plans(league.database) as found:
        league.database.read(
            lambda connection: rated_games.results_since(connection, league.ladder_id, 7, limit=9)
        )
    (plan,) = found
    assert plan.startswith("SEARCH game USING INDEX game_order (ladder_id=? AND end_sequence>?)")
    assert "SEARCH game_1 USING INDEX game_fingerprint" in plan
    assert "TEMP B-TREE" not in plan

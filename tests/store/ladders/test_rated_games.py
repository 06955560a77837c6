"""The games that ladders are computed from, on SQLite and PostgreSQL."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import Connection, func, insert, select
from tests.query_plans import plans

from meijin.game import Ending, Result
from meijin.store.ladders import ladders, log, rated_games
from meijin.store.ladders.rated_games import PairCount, ScoredGame, Snapshot
from meijin.store.schema import (
    BotVersionId,
    Fault,
    FaultKind,
    FaultParty,
    Game,
    GameState,
    Ladder,
)

if TYPE_CHECKING:
    from tests.store.league import League

BLACK, WHITE, DRAW = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW


def log_snapshot(league: "League", then: Snapshot | None = None) -> Snapshot:
    """The league's games read one by one, as they are now or as they were at a snapshot."""

    def read(connection: Connection) -> Snapshot:
        ladder_id = league.ladder_id
        cutoff, voided = 10**9, ladders.voided_games(connection, ladder_id)
        if then is not None:
            cutoff, voided = then.cutoff, then.voided
        anchors = ladders.anchors(connection, ladder_id)
        return log.log_snapshot(connection, ladder_id, anchors, cutoff=cutoff, voided=voided)

    return league.database.read(read)


def test_pairs_are_counted_by_colours_and_result(any_league: "League") -> None:
    """Rows are sorted plain numbers: black's wins, draws and losses."""
    any_league.finish((1, 0, BLACK), (0, 1, BLACK), (0, 1, BLACK), (0, 1, WHITE), (0, 1, DRAW))
    first, second = any_league.versions[:2]
    found = any_league.snapshot()
    assert list(found.pair_counts) == [(first, second, 2, 1, 1), (second, first, 1, 0, 0)]
    assert {type(number) for row in found.pair_counts for number in row} == {int}
    assert found.games == 5


def test_results_come_in_the_order_of_their_ends(any_league: "League") -> None:
    """Each is black, white and black's points."""
    any_league.finish((2, 0, WHITE), (0, 1, DRAW))
    any_league.finish((1, 2, BLACK))
    a, b, c = any_league.versions[:3]
    assert any_league.snapshot().results == [(c, a, 0.0), (a, b, 0.5), (b, c, 1.0)]


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


def test_forfeits_are_counted_for_the_loser(any_league: "League") -> None:
    """Losses on the board are no faults; a forfeit that repeats another is one more."""
    any_league.finish((0, 1, BLACK), (1, 2, WHITE))
    any_league.finish((0, 1, BLACK), (1, 2, WHITE), (2, 0, BLACK), forfeit=True)
    any_league.finish((1, 2, WHITE), (1, 2, WHITE), line=(7,), forfeit=True)
    a, b, _ = any_league.versions[:3]
    assert any_league.snapshot().fault_counts == [(a, 1), (b, 4)]


def test_games_are_counted_by_the_day_of_their_end(any_league: "League") -> None:
    """A day is a date, in UTC; a repeat counts on none."""
    any_league.finish((0, 1, BLACK), (0, 1, DRAW), (1, 0, WHITE))
    any_league.finish((0, 1, BLACK), (0, 1, BLACK), line=(7,), day=2)
    a, b = any_league.versions[:2]
    found = any_league.database.read(
        lambda connection: rated_games.day_counts(connection, any_league.ladder_id)
    )
    first, third = date(2026, 1, 1), date(2026, 1, 3)
    assert found == [
        (first, (a, b, 1, 1, 0)),
        (first, (b, a, 0, 0, 1)),
        (third, (a, b, 1, 0, 0)),
    ]


@pytest.mark.parametrize("state", [GameState.RUNNING, GameState.VOID])
def test_other_games_do_not_count(
    any_league: "League", make_league: "type[League]", state: GameState
) -> None:
    """Running and void games, and other ladders' games, are in no snapshot."""
    other = make_league(any_league.database, name="standard-15x15")
    other.finish((0, 1, BLACK), forfeit=True)
    any_league.add_unrated(state)
    for found in (any_league.snapshot(), log_snapshot(any_league)):
        assert (list(found.pair_counts), found.results, found.fault_counts) == ([], [], [])
        assert (found.games, found.repeats, found.cutoff) == (0, 0, 0)


def test_a_checksum_can_be_made_by_hand(any_league: "League") -> None:
    """It is the SHA-256 of lines of numbers."""
    any_league.finish((1, 0, DRAW))
    any_league.finish((0, 1, BLACK), forfeit=True)
    any_league.set_anchors(1)
    a, b = any_league.versions[:2]
    lines = f"{a} {b} 1 0 0\n{b} {a} 0 1 0\n{b} {a} 0.5\n{a} {b} 1.0\n{b} 1\n{b}\n"
    lines += f"{a} 2026-01-01\n{b} 2026-01-01\n"
    found = any_league.snapshot()
    assert found.checksum == hashlib.sha256(lines.encode()).hexdigest()
    assert (found.name, found.revision, found.games) == ("freestyle-15x15", 3, 2)


def test_a_snapshot_knows_where_it_ends(any_league: "League") -> None:
    """Its cut-off is the end of the last finished game, rated or not."""
    any_league.finish((0, 1, BLACK), (0, 1, BLACK), (0, 1, BLACK), line=(7,))
    found = any_league.snapshot()
    assert (found.cutoff, found.games, found.repeats, found.voided) == (3, 1, 2, 0)
    any_league.void(3)
    found = any_league.snapshot()
    assert (found.cutoff, found.games, found.repeats, found.voided) == (2, 1, 1, 1)


def test_a_snapshot_is_of_one_instant(any_league: "League") -> None:
    """Games that finish while it is read are in none of its parts."""
    any_league.finish((0, 1, BLACK))

    def read(connection: Connection) -> Snapshot:
        connection.execute(select(Ladder.id)).all()
        any_league.finish((1, 0, BLACK), forfeit=True)
        return rated_games.snapshot(connection, any_league.ladder_id, [])

    found = any_league.database.read(read)
    assert (found.revision, found.games, len(list(found.pair_counts))) == (1, 1, 1)
    assert found.fault_counts == []


def test_the_log_tells_the_same_as_the_counts(any_league: "League") -> None:
    """Read one by one, the games make the same snapshot, repeats and forfeits and all."""
    any_league.finish_random(60, lines=2)
    any_league.finish((0, 1, BLACK), (3, 2, WHITE), line=(1,), forfeit=True)
    any_league.void(5)
    any_league.set_anchors(2)
    found = any_league.snapshot()
    assert found.repeats > 5
    assert log_snapshot(any_league) == found


def test_the_log_is_read_up_to_a_cut_off(any_league: "League") -> None:
    """What it gave then is found again, whatever has been played since."""
    any_league.finish_random(30, lines=3)
    before = any_league.snapshot()
    any_league.finish_random(30, seed=2, lines=3)
    again = log_snapshot(any_league, before)
    assert replace(again, revision=before.revision) == before


def test_the_log_knows_what_was_voided_later(any_league: "League") -> None:
    """Each snapshot is found again, with the results and forfeits that were voided after it."""
    any_league.finish((0, 1, BLACK), (2, 3, WHITE), forfeit=True)
    found = [any_league.snapshot()]
    for number in (1, 6, 2, 9):
        any_league.finish_random(5, seed=number, lines=3)
        found.append(any_league.snapshot())
        any_league.void(number)
        found.append(any_league.snapshot())
    assert [each.voided for each in found] == [0, 0, 1, 1, 2, 2, 3, 3, 4]
    for then in found:
        assert replace(log_snapshot(any_league, then), revision=then.revision) == then


def test_a_game_voided_while_it_ran_was_never_counted(any_league: "League") -> None:
    """Its fault has the same words and no result."""
    any_league.finish((0, 1, BLACK))
    before = any_league.snapshot()
    any_league.add_unrated(GameState.VOID)
    fault = insert(Fault).values(
        game_id=select(func.max(Game.id)).scalar_subquery(),
        kind=FaultKind.VOIDED,
        party=FaultParty.OPERATOR,
        detail="the tournament was cancelled",
        ending=Ending.VOID,
        evidence={"ply": 3, "detail": "the tournament was cancelled"},
        create_time=datetime(2026, 1, 1, tzinfo=UTC),
    )
    any_league.database.write(lambda connection: connection.execute(fault))
    any_league.void(1)
    assert replace(log_snapshot(any_league, before), revision=before.revision) == before


def test_the_log_believes_no_mark(any_league: "League") -> None:
    """A game that is marked as a repeat and is none counts in the log alone."""
    any_league.finish((0, 1, BLACK), (0, 1, WHITE))
    any_league.change_game(2, is_repeat=True)
    assert (any_league.snapshot().games, log_snapshot(any_league).games) == (1, 2)


# -- how it is read -----------------------------------------------------------------


@pytest.mark.parametrize("query", [rated_games.pair_counts, rated_games.fault_counts])
def test_games_are_counted_in_an_index_alone(
    league: "League", query: Callable[[Connection, Any], object]
) -> None:
    """A million rows with their moves would take seconds to read."""
    with plans(league.database) as found:
        league.database.read(lambda connection: query(connection, league.ladder_id))
    (plan,) = found
    assert plan.startswith("SEARCH game USING COVERING INDEX game_result (ladder_id=? AND state=?")


def test_pairs_come_from_the_index_in_order(league: "League") -> None:
    """They are neither sorted nor gathered in a table of their own."""
    with plans(league.database) as found:
        league.database.read(
            lambda connection: rated_games.pair_counts(connection, league.ladder_id)
        )
    assert "TEMP B-TREE" not in found[0]


def test_results_since_a_run_are_not_sorted(league: "League") -> None:
    """The index has their order: else the few since the run would be picked out of all."""
    with plans(league.database) as found:
        league.database.read(
            lambda connection: rated_games.results_since(connection, league.ladder_id, 7, limit=9)
        )
    assert found == ["SEARCH game USING INDEX game_order (ladder_id=? AND end_sequence>?)"]


def test_no_part_of_a_snapshot_looks_at_games_of_other_ladders(league: "League") -> None:
    """Every query finds the ladder's games by an index, and in an order that it keeps."""
    with plans(league.database) as found:
        league.snapshot()
    of_games = [plan for plan in found if "game" in plan]
    assert len(of_games) == 6
    assert all(plan.startswith("SEARCH game USING") for plan in of_games)
    assert not any("ORDER BY" in plan for plan in of_games)

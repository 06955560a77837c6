"""What two bots scored against each other, counted by the database."""

from array import array

import pytest
from sqlalchemy import Connection, update
from tests.store.conftest import Planner, Scene
from tests.store.endings import play

from meijin.game import Result, encode_moves
from meijin.store import Database
from meijin.store.games import encode_times
from meijin.store.schema import Game, Score
from meijin.store.tournaments.match_counts import (
    MatchCounts,
    MatchSums,
    PairingResult,
    PlannedResult,
    TimeUse,
    match_counts,
    match_sums,
    pairing_results,
    planned_results,
)

BLACK, WHITE, DRAW, NONE = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW, Result.NONE


@pytest.mark.parametrize(
    ("results", "counts"),
    [
        ({1: BLACK, 2: WHITE}, MatchCounts((0, 0, 2), (0, 0, 0, 0, 1))),
        ({1: WHITE, 2: BLACK}, MatchCounts((2, 0, 0), (1, 0, 0, 0, 0))),
        ({1: BLACK, 2: BLACK}, MatchCounts((1, 0, 1), (0, 0, 1, 0, 0))),
        ({1: DRAW, 2: DRAW, 3: DRAW, 4: WHITE}, MatchCounts((0, 3, 1), (0, 0, 1, 1, 0))),
        ({2: BLACK, 1: DRAW}, MatchCounts((1, 1, 0), (0, 1, 0, 0, 0))),
        ({1: BLACK, 3: WHITE}, MatchCounts((1, 0, 1), (0, 0, 0, 0, 0))),
        ({1: BLACK, 2: NONE, 4: WHITE}, MatchCounts((0, 0, 2), (0, 0, 0, 0, 0))),
    ],
)
def test_games_and_complete_pairs_are_counted(
    database: Database,
    planner: Planner,
    scene: Scene,
    results: dict[int, Result],
    counts: MatchCounts,
) -> None:
    """For the first entrant, whichever colour it had; void games count nowhere, nor other matches'."""
    play(database, scene, results)
    found = database.read(match_counts, scene.tournament_id)
    assert (found, found.played) == (counts, sum(counts.games))
    other = planner.add(planner.plan(scene.bots))
    assert database.read(match_counts, other) == MatchCounts()


def test_a_swap_is_counted_by_players(database: Database, scene: Scene) -> None:
    """The results are those of the pairing's colours, whatever colours won in the end."""
    play(database, scene, {1: BLACK, 2: BLACK, 3: DRAW, 4: WHITE}, swapped=(1, 3))
    ada, bob = scene.bots
    found = database.read(match_counts, scene.tournament_id)
    assert found == MatchCounts((2, 1, 1), (1, 0, 0, 1, 0))
    expected = [(ada, bob, WHITE), (bob, ada, BLACK), (ada, bob, DRAW), (bob, ada, WHITE)]
    ended = database.read(pairing_results, scene.tournament_id)
    assert [(row.black_id, row.white_id, row.result) for row in ended] == expected
    planned = database.read(planned_results, scene.tournament_id)
    assert [(row.black_id, row.white_id, row.result) for row in planned] == expected


def test_results_come_in_the_order_of_the_ends(database: Database, scene: Scene) -> None:
    play(database, scene, {3: DRAW, 2: NONE, 1: BLACK, 4: WHITE})
    ada, bob = scene.bots
    assert database.read(pairing_results, scene.tournament_id) == [
        PairingResult(3, ada, bob, DRAW),
        PairingResult(1, ada, bob, BLACK),
        PairingResult(4, bob, ada, WHITE),
    ]


def test_planned_games_come_with_their_results(database: Database, scene: Scene) -> None:
    """By their numbers; a void game and one that is not begun have none."""
    play(database, scene, {3: DRAW, 2: NONE, 1: BLACK})
    ada, bob = scene.bots
    assert database.read(planned_results, scene.tournament_id) == [
        PlannedResult(1, 1, ada, bob, BLACK),
        PlannedResult(2, 2, bob, ada, None),
        PlannedResult(3, 3, ada, bob, DRAW),
        PlannedResult(4, 4, bob, ada, None),
    ]


MOVES = (0, 1, 2, 3, 4)
CHARGED = array("Q", (5, 70, 6))
"""Nanoseconds of the moves after an opening of two stones."""


def sums_of(
    database: Database, scene: Scene, results: dict[int, Result], opening_plies: int
) -> MatchSums:
    play(database, scene, results)
    change = update(Game).values(
        opening_plies=opening_plies,
        moves=encode_moves(MOVES),
        times=encode_times(CHARGED, CHARGED),
        end_time=Game.start_time,
    )
    database.write(Connection.execute, statement=change)
    return database.read(match_sums, scene.tournament_id, scene.bots[0])


def test_scores_are_told_by_colour_and_time_by_bot(database: Database, scene: Scene) -> None:
    """Of a win with black, a draw with white, and a void game, which counts nowhere."""
    both = TimeUse(moves=3, nanoseconds=sum(CHARGED), longest=max(CHARGED))
    assert sums_of(database, scene, {1: BLACK, 2: DRAW, 3: NONE}, 2) == MatchSums(
        black=Score(wins=1),
        white=Score(draws=1),
        plies=2 * len(MOVES),
        first=both,
        second=both,
        start_time=scene.now,
        end_time=scene.now,
    )


def test_time_is_told_by_colour(database: Database, scene: Scene) -> None:
    """The one game of a bot with black has the times of black's stones."""
    sums = sums_of(database, scene, {1: BLACK}, 3)
    assert (sums.first, sums.second) == (TimeUse(1, 70, 70), TimeUse(2, 11, 6))


def test_a_match_without_games_has_no_times(database: Database, scene: Scene) -> None:
    assert sums_of(database, scene, {}, 2) == MatchSums()

"""What two bots scored against each other, counted by the database."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from tests.query_plans import plans
from tests.store.endings import play

from meijin.game import Result
from meijin.store import Database
from meijin.store.tournaments.match_counts import (
    MatchCounts,
    PairingResult,
    PlannedResult,
    match_counts,
    pairing_results,
    planned_results,
)

if TYPE_CHECKING:
    from tests.store.conftest import Planner, Scene

BLACK, WHITE, DRAW, NONE = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW, Result.NONE


@pytest.mark.parametrize(
    ("results", "games", "pairs"),
    [
        ({1: BLACK, 2: WHITE}, (0, 0, 2), (0, 0, 0, 0, 1)),
        ({1: WHITE, 2: BLACK}, (2, 0, 0), (1, 0, 0, 0, 0)),
        ({1: BLACK, 2: BLACK}, (1, 0, 1), (0, 0, 1, 0, 0)),
        ({1: DRAW, 2: DRAW, 3: DRAW, 4: WHITE}, (0, 3, 1), (0, 0, 1, 1, 0)),
        ({2: BLACK, 1: DRAW}, (1, 1, 0), (0, 1, 0, 0, 0)),
        ({1: BLACK, 3: WHITE}, (1, 0, 1), (0, 0, 0, 0, 0)),
        ({1: BLACK, 2: NONE, 4: WHITE}, (0, 0, 2), (0, 0, 0, 0, 0)),
    ],
)
def test_games_and_complete_pairs_are_counted(
    database: Database,
    scene: Scene,
    results: dict[int, Result],
    games: tuple[int, ...],
    pairs: tuple[int, ...],
) -> None:
    """For the first entrant, whichever colour it had; void games count nowhere."""
    play(database, scene, results)
    found = database.read(lambda at: match_counts(at, scene.tournament_id))
    assert found == MatchCounts(games, pairs)
    assert found.played == sum(games)


def test_a_swap_is_counted_by_players(database: Database, scene: Scene) -> None:
    """The results are those of the pairing's colours, whatever colours won in the end."""
    play(database, scene, {1: BLACK, 2: BLACK, 3: DRAW, 4: WHITE}, swapped=(1, 3))
    ada, bob = scene.bots
    found = database.read(lambda at: match_counts(at, scene.tournament_id))
    assert found == MatchCounts((2, 1, 1), (1, 0, 0, 1, 0))
    results = database.read(lambda at: pairing_results(at, scene.tournament_id))
    planned = database.read(lambda at: planned_results(at, scene.tournament_id))
    expected = [(ada, bob, WHITE), (bob, ada, BLACK), (ada, bob, DRAW), (bob, ada, WHITE)]
    assert [(row.black_id, row.white_id, row.result) for row in results] == expected
    assert [(row.black_id, row.white_id, row.result) for row in planned] == expected


def test_matches_are_counted_apart(database: Database, planner: Planner, scene: Scene) -> None:
    """One without a result has counts of nothing."""
    other = planner.add(planner.plan(scene.bots))
    play(database, scene, {1: BLACK, 2: WHITE})
    assert database.read(lambda at: match_counts(at, other)) == MatchCounts()


def test_results_come_in_the_order_of_the_ends(database: Database, scene: Scene) -> None:
    """With who had which colour."""
    play(database, scene, {3: DRAW, 2: NONE, 1: BLACK, 4: WHITE})
    ada, bob = scene.bots
    assert database.read(lambda at: pairing_results(at, scene.tournament_id)) == [
        PairingResult(3, ada, bob, DRAW),
        PairingResult(1, ada, bob, BLACK),
        PairingResult(4, bob, ada, WHITE),
    ]


def test_planned_games_come_with_their_results(database: Database, scene: Scene) -> None:
    """By their numbers; a void game and one that is not begun have none."""
    play(database, scene, {3: DRAW, 2: NONE, 1: BLACK})
    ada, bob = scene.bots
    rows = database.read(lambda at: planned_results(at, scene.tournament_id))
    assert rows == [
        PlannedResult(1, 1, ada, bob, BLACK),
        PlannedResult(2, 2, bob, ada, None),
        PlannedResult(3, 3, ada, bob, DRAW),
        PlannedResult(4, 4, bob, ada, None),
    ]
    if database.is_sqlite:
        with plans(database) as found:
            database.read(lambda at: planned_results(at, scene.tournament_id))
        assert "game_once" in found[0]


def test_a_result_for_every_pairing_is_counted_once(database: Database, scene: Scene) -> None:
    """The two ways of counting agree."""
    play(database, scene, {1: BLACK, 2: DRAW, 3: WHITE, 4: WHITE})
    counts = database.read(lambda at: match_counts(at, scene.tournament_id))
    rows = database.read(lambda at: pairing_results(at, scene.tournament_id))
    halves = Counter(
        {BLACK: 2, DRAW: 1, WHITE: 0}[row.result]
        if row.black_id == scene.bots[0]
        else {BLACK: 0, DRAW: 1, WHITE: 2}[row.result]
        for row in rows
    )
    assert counts.games == tuple(halves[points] for points in range(3))

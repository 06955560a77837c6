"""What two bots scored against each other, counted by the database."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import Connection, update

from meijin.game import Ending, Party, Result
from meijin.store import Database
from meijin.store.flushes import Flush, commit_flush
from meijin.store.match_counts import MatchCounts, PairingResult, match_counts, pairing_results
from meijin.store.tables import FlushId, Game, GameState

if TYPE_CHECKING:
    from tests.store.conftest import Planner, Scene

BLACK, WHITE, DRAW, NONE = Result.BLACK_WINS, Result.WHITE_WINS, Result.DRAW, Result.NONE


def play(database: Database, scene: Scene, results: dict[int, Result]) -> None:
    """End the games of the pairings with these numbers, in this order."""
    flush = Flush(FlushId(1), FlushId(0))
    flush.starts = [scene.start(number - 1, number) for number in results]
    database.write(lambda to: commit_flush(to, flush))
    for sequence, (number, result) in enumerate(results.items(), start=1):
        state = GameState.VOID if result is NONE else GameState.FINISHED
        ending = Ending.VOID if result is NONE else Ending.ADJUDICATION
        values = {
            "state": state,
            "result": result,
            "ending": ending,
            "at_fault": Party.NOBODY,
            "end_sequence": sequence,
        }
        change = update(Game).where(Game.id == number).values(values)
        database.write(partial(Connection.execute, statement=change))


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

"""Sums over the games of a match."""

from __future__ import annotations

from array import array
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import Connection, update
from tests.store.endings import play

from meijin.game import Result, encode_moves
from meijin.store import Database
from meijin.store.games import encode_times
from meijin.store.schema import Game
from meijin.store.tournaments.match_sums import ColorScore, MatchSums, TimeUse, match_sums

if TYPE_CHECKING:
    from tests.store.conftest import Scene

MOVES = (0, 1, 2, 3, 4)
CHARGED = (5, 70, 6)
"""Nanoseconds of the moves after an opening of two stones."""


def played(database: Database, scene: Scene) -> MatchSums:
    """Ada's sums after a win with black, a draw with white and a void game."""
    play(database, scene, {1: Result.BLACK_WINS, 2: Result.DRAW, 3: Result.NONE})
    times = array("Q", CHARGED)
    values = {
        "opening_plies": 2,
        "moves": encode_moves(MOVES),
        "times": encode_times(times, times),
        "end_time": Game.start_time,
    }
    change = update(Game).values(values)
    database.write(partial(Connection.execute, statement=change))
    ada, _ = scene.bots
    return database.read(lambda at: match_sums(at, scene.tournament_id, ada))


def test_scores_are_told_by_colour(database: Database, scene: Scene) -> None:
    """Of the first bot; a void game counts nowhere."""
    sums = played(database, scene)
    assert (sums.black, sums.white) == (ColorScore(wins=1), ColorScore(draws=1))
    assert sums.plies == 2 * len(MOVES)
    assert sums.start_time is not None
    assert sums.end_time is not None
    assert sums.end_time - sums.start_time >= timedelta(0)


def test_time_is_told_by_bot(database: Database, scene: Scene) -> None:
    """Each has had both colours once."""
    sums = played(database, scene)
    both = TimeUse(moves=3, nanoseconds=sum(CHARGED), longest=max(CHARGED))
    assert sums.first == sums.second == both


def test_time_is_told_by_colour(database: Database, scene: Scene) -> None:
    """The one game of a bot with black has the times of black's stones."""
    play(database, scene, {1: Result.BLACK_WINS})
    times = array("Q", CHARGED)
    values = {"opening_plies": 3, "times": encode_times(times, times), "end_time": Game.start_time}
    change = update(Game).values(values)
    database.write(partial(Connection.execute, statement=change))
    ada, _ = scene.bots
    sums = database.read(lambda at: match_sums(at, scene.tournament_id, ada))
    assert (sums.first, sums.second) == (TimeUse(1, 70, 70), TimeUse(2, 11, 6))


def test_a_match_without_games_has_no_times(database: Database, scene: Scene) -> None:
    """Everything is nothing."""
    ada, _ = scene.bots
    assert database.read(lambda at: match_sums(at, scene.tournament_id, ada)) == MatchSums()

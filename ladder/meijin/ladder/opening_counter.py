"""The opening counter: follows the finished games, and counts them by their first moves.

Its cursor is committed with the counts, so that a worker that dies counts no game twice and leaves
none out; several workers may count at once. A game that is voided is taken away again.
"""

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial

import structlog
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from meijin.ladder.opening_moves import band_of, count_moves
from meijin.store import Database
from meijin.store.database import is_unavailable
from meijin.store.openings.counting import (
    CountedGame,
    CountedGames,
    GamesChangedError,
    add_counted,
    add_one,
    held_game,
    take_away,
)
from meijin.store.openings.games_to_count import (
    NO_LADDER,
    EndedGame,
    cursor_of,
    ended_game,
    ended_games,
    ladders_to_count,
    published_elo,
)
from meijin.store.openings.rechecks import Recheck, next_rechecks, take_recheck
from meijin.store.schema import LadderId

BATCH = 200
"""Games of a transaction at most, and at first."""
LEAST_BATCH = 20
LONGEST_HOLD_S = 0.025
"""A transaction that takes longer is followed by one of half as many games: on SQLite the server's
moves wait for it, and on a large table most of its rows are in pages of their own."""
RECHECKS = 100
"""Voids that are seen to at once."""
REST_FACTOR = 4.0
"""A rest over the batch before it: a fifth of a core, and of the database, is enough."""

_log = structlog.get_logger()


class OpeningCounter:
    """Counts the games of all ladders, and those of none, a batch of each in turn."""

    def __init__(
        self,
        database: Database,
        *,
        stop: threading.Event | None = None,
        clock: Callable[[], float] = time.monotonic,
        rest_factor: float = REST_FACTOR,
    ) -> None:
        self._database = database
        self._stop = stop or threading.Event()
        self._clock = clock
        self._rest_factor = rest_factor
        self._batch = BATCH

    def sweep(self) -> bool:
        """As `count`; failures are logged, but for the database's outages, as the jobs do that."""
        try:
            return self.count()
        except Exception as error:  # noqa: BLE001 - ladders must not wait for openings
            if not (isinstance(error, DBAPIError) and is_unavailable(error)):
                _log.exception("can't count openings")
            return False

    def count(self) -> bool:
        """See to the voids, and count the next games; tell whether there may be more."""
        is_behind = self._see_to_rechecks()
        for ladder_id in self._database.read(ladders_to_count):
            if self._stop.is_set():
                break
            start = self._clock()
            counted = self._database.read(
                partial(_counted_batch, ladder_id=ladder_id, limit=self._batch)
            )
            if counted is not None:
                is_behind |= self._add(counted)
                self._stop.wait(self._rest_factor * (self._clock() - start))
        return is_behind

    def _add(self, counted: CountedGames) -> bool:
        """Add games, unless they have changed; tell whether there may be more at once."""
        is_behind = counted.looked_at >= self._batch
        begin = 0.0

        def add(connection: Connection) -> None:
            nonlocal begin
            begin = self._clock()  # it waits for others no more
            add_counted(connection, counted)

        try:
            self._database.write(add)
        except GamesChangedError:
            _log.info("openings are counted anew", ladder=counted.ladder_id, after=counted.after)
            is_behind = True
        is_slow = self._clock() - begin > LONGEST_HOLD_S
        wanted = self._batch // 2 if is_slow else self._batch * 2
        self._batch = min(max(wanted, LEAST_BATCH), BATCH)
        return is_behind

    def _see_to_rechecks(self) -> bool:
        waiting = self._database.read(lambda connection: next_rechecks(connection, limit=RECHECKS))
        for recheck in waiting:
            self._database.write(partial(_recheck, recheck=recheck))
        return len(waiting) == RECHECKS


def _counted_batch(connection: Connection, ladder_id: LadderId, limit: int) -> CountedGames | None:
    """The next games, counted; ``None`` without any."""
    after = cursor_of(connection, ladder_id)
    games = ended_games(connection, ladder_id, after=after, limit=limit)
    return _counted(connection, ladder_id, games, after=after) if games else None


def _counted(
    connection: Connection, ladder_id: LadderId, games: Sequence[EndedGame], *, after: int
) -> CountedGames:
    """Those of some games that count, counted."""
    counting = [game for game in games if game.counts]
    versions = {version for game in counting for version in (game.black_id, game.white_id)}
    elo = published_elo(connection, ladder_id, sorted(versions)) if versions else {}
    banded = [(game, band_of(game, elo)) for game in counting]
    return CountedGames(
        ladder_id=ladder_id,
        after=after,
        cursor=games[-1].end_sequence,
        looked_at=len(games),
        games=[CountedGame(game.id, band, game.result) for game, band in banded],
        moves=count_moves(banded),
    )


def _recheck(connection: Connection, recheck: Recheck) -> None:
    """Have a game count if it should, and not if it should not."""
    if not take_recheck(connection, recheck):
        return
    game = ended_game(connection, recheck.game_id)
    ladder_id = game.ladder_id or NO_LADDER
    is_past, counted = held_game(connection, game)
    if counted is not None and not game.counts:
        was = game._replace(result=counted.result)
        take_away(connection, ladder_id, game.id, count_moves([(was, counted.band)]))
    elif is_past and counted is None and game.counts:
        more = _counted(connection, ladder_id, [game], after=game.end_sequence)
        add_one(connection, ladder_id, more)

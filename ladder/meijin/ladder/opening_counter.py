"""The opening counter: follows the finished games, and counts them by their first moves.

Its cursor is committed with the counts, so that a worker that dies counts no game twice and leaves
none out; several workers may count at once. A game that is voided is taken away again.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import TypeAlias

import numpy as np
import structlog
from numpy.typing import NDArray
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from meijin.game import Result, Variant, decode_moves
from meijin.game.board.symmetry import symmetries, zobrist_keys
from meijin.store import Database
from meijin.store.database import is_unavailable
from meijin.store.ladders.openings import (
    DEPTH,
    NO_LADDER,
    EndedGame,
    MoveCount,
    add_games,
    counted_game,
    ended_game,
    ended_games,
    hold_cursor,
    ladders_to_count,
    move_cursor,
    next_rechecks,
    take_away,
    take_recheck,
)
from meijin.store.ladders.versions import published_elo
from meijin.store.schema import (
    GAME_ENDED,
    BotVersionId,
    LadderId,
    OpeningGame,
    OpeningRecheck,
    StrengthBand,
)

Integers: TypeAlias = NDArray[np.int64]
Moves: TypeAlias = NDArray[np.int64]
"""Cells, shape (games, `DEPTH` + 1); `GAME_ENDED` from a game's end on."""

LOWEST = 1200
"""The first rating of the second band; the next bands begin `WIDTH` further each."""
WIDTH = 200
_RESULTS = (Result.BLACK_WINS, Result.DRAW, Result.WHITE_WINS)


def band_of(game: EndedGame, elo: Mapping[BotVersionId, float]) -> StrengthBand:
    """The band of the mean of its players' ratings."""
    black, white = elo.get(game.black_id), elo.get(game.white_id)
    if black is None or white is None:
        return StrengthBand.UNRATED
    place = int(((black + white) / 2 - LOWEST) // WIDTH) + StrengthBand.FROM_1200
    return StrengthBand(min(max(place, StrengthBand.BELOW_1200), StrengthBand.FROM_1800))


def count_moves(games: Sequence[tuple[EndedGame, StrengthBand]]) -> list[MoveCount]:
    """What games add to the counts; sorted by position, cell and band."""

    def variant_of(each: tuple[EndedGame, StrengthBand]) -> str:
        return str(each[0].variant)

    found: list[MoveCount] = []
    for _, group in groupby(sorted(games, key=variant_of), key=variant_of):
        found += _count(list(group))
    return sorted(found)


def _count(games: Sequence[tuple[EndedGame, StrengthBand]]) -> list[MoveCount]:
    """The same of games of one variant."""
    variant = games[0][0].variant
    moves = np.array([_cells(game.moves, variant) for game, _ in games])
    positions, cells = _canonical(moves, variant)
    # A game's positions end with its last stone: there its own end stands for the move.
    plies = np.arange(moves.shape[1])
    lengths = (moves != GAME_ENDED).sum(axis=1)
    game, ply = np.nonzero(plies <= lengths[:, None])
    bands = np.array([band.value for _, band in games])
    points = np.array([_RESULTS.index(each.result) for each, _ in games])
    ids = np.array([each.id for each, _ in games])
    keys = np.stack([positions[game, ply], cells[game, ply], bands[game]], axis=1)
    unique, where = np.unique(keys, axis=0, return_inverse=True)
    results = np.zeros((len(unique), len(_RESULTS)), dtype=np.int64)
    np.add.at(results, (where, points[game]), 1)
    last = np.zeros(len(unique), dtype=np.int64)
    last[where] = ids[game]  # the last of equal places prevails
    rows = np.concatenate([unique, results, last[:, None]], axis=1)
    return [MoveCount(*row) for row in rows.tolist()]


def _cells(data: bytes, variant: Variant) -> list[int]:
    """A row of `Moves`; a game ends here at a cell that is not on the board."""
    cells = list(decode_moves(data))[: DEPTH + 1]
    off = (ply for ply, cell in enumerate(cells) if cell >= variant.cells)
    kept = cells[: next(off, len(cells))]
    return kept + [GAME_ENDED] * (DEPTH + 1 - len(kept))


def _canonical(moves: Moves, variant: Variant) -> tuple[Integers, Integers]:
    """The key of the position before each move, and the move's cell in the canonical image."""
    images, empty, stones = _tables(variant)
    games, plies = moves.shape
    hashes = np.empty((len(images), games, plies), dtype=np.int64)
    placed = images[:, moves]
    hashes[:, :, 0] = empty
    for ply in range(plies - 1):
        hashes[:, :, ply + 1] = hashes[:, :, ply] ^ stones[ply % 2][placed[:, :, ply]]
    least = hashes.min(axis=0)
    cells = np.where(hashes == least, placed, np.iinfo(np.int64).max).min(axis=0)
    return least, cells


@lru_cache(maxsize=16)
def _tables(variant: Variant) -> tuple[Integers, np.int64, tuple[Integers, Integers]]:
    """The images of all cells, and the Zobrist keys; the last of each stands for no cell."""
    keys = zobrist_keys(variant)
    images = np.array([[*image, GAME_ENDED] for image in symmetries(variant)], dtype=np.int64)
    black, white = (np.array([*each, 0], dtype=np.int64) for each in keys.stones)
    return images, np.int64(keys.empty), (black, white)


BATCH = 100
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
            is_behind |= self._count_batch(ladder_id)
            self._stop.wait(self._rest_factor * (self._clock() - start))
        return is_behind

    def _count_batch(self, ladder_id: LadderId) -> bool:
        """Count the next games of a ladder; tell whether there may be more."""
        begin = 0.0

        def count(connection: Connection) -> int:
            nonlocal begin
            begin = self._clock()  # it waits for others no more
            return _count_next(connection, ladder_id, limit=self._batch)

        is_behind = self._database.write(count) >= self._batch
        is_slow = self._clock() - begin > LONGEST_HOLD_S
        wanted = self._batch // 2 if is_slow else self._batch * 2
        self._batch = min(max(wanted, LEAST_BATCH), BATCH)
        return is_behind

    def _see_to_rechecks(self) -> bool:
        waiting = self._database.read(next_rechecks, limit=RECHECKS)
        for recheck in waiting:
            self._database.write(_recheck, recheck=recheck)
        return len(waiting) == RECHECKS


def _count_next(connection: Connection, ladder_id: LadderId, limit: int) -> int:
    """Count the next games of a ladder, and tell how many were looked at."""
    after = hold_cursor(connection, ladder_id)
    games = ended_games(connection, ladder_id, after=after, limit=limit)
    if games:
        _add(connection, ladder_id, [game for game in games if game.counts])
        move_cursor(connection, ladder_id, games[-1].end_sequence)
    return len(games)


def _add(connection: Connection, ladder_id: LadderId, games: Sequence[EndedGame]) -> None:
    versions = {version for game in games for version in (game.black_id, game.white_id)}
    elo = published_elo(connection, ladder_id, sorted(versions))
    banded = [(game, band_of(game, elo)) for game in games]
    counted = [
        OpeningGame(game_id=game.id, band=band.value, result=game.result) for game, band in banded
    ]
    add_games(connection, ladder_id, counted, count_moves(banded))


def _recheck(connection: Connection, recheck: OpeningRecheck) -> None:
    """Have a game count if it should, and not if it should not."""
    if not take_recheck(connection, recheck):
        return
    ladder_id = ended_game(connection, recheck.game_id).ladder_id or NO_LADDER
    end = hold_cursor(connection, ladder_id)
    game = ended_game(connection, recheck.game_id)  # what it is while nobody else counts it
    counted = counted_game(connection, game.id)
    if counted is not None and not game.counts:
        was = game._replace(result=counted.result)
        take_away(connection, ladder_id, game.id, count_moves([(was, StrengthBand(counted.band))]))
    elif counted is None and game.counts and game.end_sequence <= end:
        _add(connection, ladder_id, [game])

"""The sequencer of a ladder: ended games are taken into its log, portion by portion.

A commit that ends games leaves their ladder alone. The ladder's job takes them into the log
afterwards, in the order of their ends, which one writer gives and commits in that order: it marks
repeats, counts games and moves the ladder's `sequenced` on. What is in the log counts for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, select, update

from meijin.store.database import Database
from meijin.store.ladders.games import repeats_an_earlier
from meijin.store.prepared import Prepared
from meijin.store.rows import columns_of
from meijin.store.schema import Game, GameId, GameState, Ladder, LadderId

MOST_GAMES = 2_000
"""Of a portion: they are looked at in one reading transaction."""
MOST_REPEATS = 100
"""Of a portion. Its transaction writes each, at 30 microseconds among a million games, and holds up
the games' commits."""


@dataclass(frozen=True, slots=True)
class Portion:
    """The next ended games of a ladder, looked at and not yet in its log."""

    ladder_id: LadderId
    after: int
    """The `end_sequence` that the log ended with."""
    voided: int
    """How many finished games of the ladder had been voided."""
    last: int
    """The `end_sequence` of the last of them."""
    finished: int
    """Those that are not void."""
    repeats: Sequence[GameId]
    """The finished ones that are the same as an earlier one."""
    is_full: bool
    """There may be more."""


def sequence(database: Database, ladder_id: LadderId) -> None:
    """Take what has ended into a ladder's log; others may do so at the same time."""
    while portion := database.read(next_portion, ladder_id=ladder_id):
        is_kept = database.write(keep_portion, portion=portion)
        if is_kept and not portion.is_full:
            return


def next_portion(connection: Connection, ladder_id: LadderId) -> Portion | None:
    """The ladder's next games; ``None`` when all are in its log, or there is no such ladder."""
    query = select(Ladder.sequenced, Ladder.voided).where(Ladder.id == ladder_id)
    mark = connection.execute(query).one_or_none()
    if mark is None:
        return None
    games = _next_games(connection, ladder_id, after=mark.sequenced)
    if not games:
        return None
    repeats = [game.id for game in games if game.is_repeat]
    return Portion(
        ladder_id,
        after=mark.sequenced,
        voided=mark.voided,
        last=games[-1].end_sequence,
        finished=sum(game.is_finished for game in games),
        repeats=repeats,
        is_full=len(games) == MOST_GAMES or len(repeats) == MOST_REPEATS,
    )


class _EndedGame(NamedTuple):
    """A game that has ended, finished or void."""

    id: GameId
    end_sequence: int
    is_finished: bool
    is_repeat: bool
    """It is the same as an earlier finished one, as it is marked in the log."""


def _next_games(connection: Connection, ladder_id: LadderId, *, after: int) -> Sequence[_EndedGame]:
    query = (
        select(*_ENDED_GAME)
        .where(Game.ladder_id == ladder_id, Game.end_sequence > after)
        .order_by(Game.end_sequence)
        .limit(MOST_GAMES)
    )
    games: list[_EndedGame] = []
    repeats = 0
    with connection.execute(query) as rows:
        for row in rows:
            games.append(_EndedGame._make(row))
            repeats += games[-1].is_repeat
            if repeats == MOST_REPEATS:
                break
    return games


def keep_portion(connection: Connection, portion: Portion) -> bool:
    """Take a portion into the log; tell whether the log was still what the portion goes on from.

    It is not when another job has taken games, or one was voided: then nothing is kept.
    """
    mine = update(Ladder).where(
        Ladder.id == portion.ladder_id,
        Ladder.sequenced == portion.after,
        Ladder.voided == portion.voided,
    )
    values = {
        "sequenced": portion.last,
        "revision": Ladder.revision + portion.finished,
        "games": Ladder.games + portion.finished - len(portion.repeats),
    }
    if not connection.execute(mine.values(values)).rowcount:
        return False
    if portion.repeats:
        rows = [{"key": game_id, "marked": True} for game_id in portion.repeats]
        _MARK.execute(connection, rows)
    return True


_IS_FINISHED = Game.state == GameState.FINISHED
_ENDED_GAME = columns_of(
    _EndedGame, Game, is_finished=_IS_FINISHED, is_repeat=_IS_FINISHED & repeats_an_earlier()
)
_MARK = Prepared(
    update(Game).where(Game.id == bindparam("key")).values(is_repeat=bindparam("marked"))
)

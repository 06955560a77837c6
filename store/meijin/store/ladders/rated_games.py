"""Rated games: those that count for a ladder, counted by players or in order."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    SQLColumnExpression,
    case,
    func,
    literal,
    not_,
    or_,
    select,
    tuple_,
)

from meijin.game import Result
from meijin.store.ladders.repeats import repeats_an_earlier
from meijin.store.rows import columns_of
from meijin.store.schema import BotVersionId, Game, GameState, Ladder, LadderId

N = TypeVar("N", bound=NamedTuple)

ScoredGame = tuple[BotVersionId, BotVersionId, float]
"""Black, white, and black's points: 1, 0.5 or 0; a million are read at once, so plain."""


class PairCount(NamedTuple):
    """The games that one version played with black against another, by black's results."""

    black_id: BotVersionId
    white_id: BotVersionId
    wins: int
    draws: int
    losses: int


def pair_counts_between(
    connection: Connection, ladder_id: LadderId, version_ids: Sequence[BotVersionId]
) -> Sequence[PairCount]:
    """The ladder's rated games among some versions, by players, colours and result; sorted."""
    return pair_counts_of(connection, ladder_id, version_ids, version_ids)


def pair_counts_of(
    connection: Connection,
    ladder_id: LadderId,
    black: Sequence[BotVersionId],
    white: Sequence[BotVersionId],
) -> Sequence[PairCount]:
    """The ladder's rated games of some versions with black against others, sorted."""
    players = (Game.black_id.in_(black), Game.white_id.in_(white))
    return _read_as(PairCount, connection, _pairs(ladder_id).where(*players))


def pair_counts_page(
    connection: Connection,
    ladder_id: LadderId,
    cutoff: int,
    *,
    after: tuple[BotVersionId, BotVersionId],
    limit: int,
) -> Sequence[PairCount]:
    """At most `limit` of the pairs of the games up to a cut-off, from the one after these two."""
    players = tuple_(Game.black_id, Game.white_id)
    query = _pairs(ladder_id).where(Game.end_sequence <= cutoff, players > after).limit(limit)
    return _read_as(PairCount, connection, query)


def _pairs(ladder_id: LadderId) -> Select[*tuple[Any, ...]]:
    return (
        select(*_PAIR_COUNT)
        .where(*is_rated(ladder_id))
        .group_by(Game.black_id, Game.white_id)
        .order_by(Game.black_id, Game.white_id)
    )


def results_since(
    connection: Connection, ladder_id: LadderId, cutoff: int, *, limit: int
) -> Sequence[ScoredGame]:
    """At most `limit` of the ladder's rated games that ended after an `end_sequence`, in order.

    Those that are not in its log yet are looked up, whether they repeat others.
    """
    last = select(Ladder.sequenced).where(Ladder.id == ladder_id).scalar_subquery()
    counts = or_(Game.end_sequence <= last, not_(repeats_an_earlier()))
    query = _results(ladder_id).where(Game.end_sequence > cutoff, counts).limit(limit)
    return _read(connection, query)


def newest_results(
    connection: Connection, ladder_id: LadderId, cutoff: int, *, limit: int
) -> Sequence[ScoredGame]:
    """The last `limit` of the ladder's rated games up to an `end_sequence`, in order."""
    query = _results(ladder_id).where(Game.end_sequence <= cutoff)
    last_first = query.order_by(None).order_by(Game.end_sequence.desc()).limit(limit)
    return _read(connection, last_first)[::-1]


def _results(ladder_id: LadderId) -> Select[*tuple[Any, ...]]:
    """The columns of `ScoredGame`."""
    return (
        select(Game.black_id, Game.white_id, POINTS)
        .where(*is_rated(ladder_id))
        .order_by(Game.end_sequence)
    )


def is_rated(
    ladder_id: LadderId | SQLColumnExpression[LadderId],
) -> tuple[ColumnElement[bool], ...]:
    """That a game counts for the ladder: it has a result, and is not marked as a repeat.

    So does one that has ended since the ladder's log, whether it is a repeat or not.
    """
    return (*_is_finished(ladder_id), Game.is_repeat.is_(False))


def _is_finished(
    ladder_id: LadderId | SQLColumnExpression[LadderId],
) -> tuple[ColumnElement[bool], ...]:
    return (Game.ladder_id == ladder_id, Game.state == GameState.FINISHED)


def _count(result: Result) -> ColumnElement[int]:
    return func.count().filter(Game.result == result)


_RESULTS = {
    "wins": _count(Result.BLACK_WINS),
    "draws": _count(Result.DRAW),
    "losses": _count(Result.WHITE_WINS),
}
_PAIR_COUNT = columns_of(PairCount, Game, **_RESULTS)

POINTS = case(
    (Game.result == Result.BLACK_WINS, literal(1.0)),
    (Game.result == Result.DRAW, literal(0.5)),
    else_=literal(0.0),
)
"""Black's points of a finished game."""


def _read(connection: Connection, query: Select[*tuple[Any, ...]]) -> Sequence[Any]:
    """Rows of plain numbers as the driver makes them: SQLAlchemy's take half as long again."""
    with connection.execute(query) as result:
        assert result.cursor is not None
        return result.cursor.fetchall()


def _read_as(kind: type[N], connection: Connection, query: Select[*tuple[Any, ...]]) -> Sequence[N]:
    """Rows of plain numbers, whose columns are those of `columns_of`, as NamedTuples."""
    return list(map(kind._make, _read(connection, query)))

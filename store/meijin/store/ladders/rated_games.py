"""The games that ladders are computed from, counted and in order."""

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain
from typing import Any, NamedTuple, Self, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    SQLColumnExpression,
    case,
    func,
    literal,
    select,
)

from meijin.game import Party, Result
from meijin.store.ladders.lineage import LastDay, ParentOf, latest_days, parents_of
from meijin.store.rows import columns_of
from meijin.store.schema import BotVersionId, Game, GameState, Ladder, LadderId

N = TypeVar("N", bound=NamedTuple)

CHUNK = 10_000
"""Rows that are read at once where there may be a million."""

ScoredGame = tuple[BotVersionId, BotVersionId, float]
"""Black, white, and black's points: 1, 0.5 or 0; a million are read at once, so plain."""


class PairCount(NamedTuple):
    """The games that one version played with black against another, by black's results."""

    black_id: BotVersionId
    white_id: BotVersionId
    wins: int
    draws: int
    losses: int


class CountedPairs:
    """Pair counts, sorted; in one array, since a million of them are read at once.

    They take 40 MB so: counting the games of 10,000 bots peaks at 234 MB, with plain tuples at 333.
    """

    def __init__(self, numbers: "array[int]") -> None:
        self.numbers = numbers
        """Five a pair, in the order of `PairCount`."""

    @classmethod
    def of(cls, pairs: Iterable[PairCount]) -> Self:
        """Of counts that are sorted."""
        return cls(array("q", chain.from_iterable(pairs)))

    def __iter__(self) -> Iterator[PairCount]:
        numbers = iter(self.numbers)
        fives = zip(numbers, numbers, numbers, numbers, numbers, strict=True)
        return map(PairCount._make, fives)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CountedPairs) and self.numbers == other.numbers

    __hash__ = None  # type: ignore[assignment]  # an array can change


class DayCount(NamedTuple):
    """The games of one day (UTC) between two versions."""

    day: date
    pair: PairCount


class FaultCount(NamedTuple):
    """How many games a version has forfeited."""

    version_id: BotVersionId
    faults: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that a run is computed from, at one instant."""

    ladder_id: LadderId
    name: str
    revision: int
    voided: int
    """How many of its finished games have been voided."""
    cutoff: int
    """The `end_sequence` of its last game; 0 for none."""
    pair_counts: CountedPairs
    results: Sequence[ScoredGame]
    """In the order in which the games ended."""
    fault_counts: Sequence[FaultCount]
    """Sorted; of repeated games too."""
    repeats: int
    """Finished games that are not rated, since they repeat others."""
    anchors: Sequence[BotVersionId]
    """Sorted."""
    parents: Sequence[ParentOf]
    """Of the versions with rated games, and of those in turn; sorted."""
    last_days: Sequence[LastDay]
    """Of the versions with rated games; sorted."""

    @property
    def games(self) -> int:
        """How many rated games it holds."""
        return len(self.results)

    @property
    def checksum(self) -> str:
        """SHA-256, hexadecimal, of what the ratings follow from, as lines of plain numbers.

        The lines are ``black white wins draws losses``, ``black white points``, ``version
        faults``, ``anchor``, ``version parent`` and ``version day`` (2026-01-31), in this order,
        so that any SQL shell can make them.
        """
        digest = hashlib.sha256()
        for form, rows in (
            ("%d %d %d %d %d\n", self.pair_counts),
            ("%d %d %s\n", self.results),
            ("%d %d\n", self.fault_counts),
            ("%d\n", [(anchor,) for anchor in self.anchors]),
            ("%d %d\n", self.parents),
            ("%d %s\n", self.last_days),
        ):
            digest.update("".join([form % tuple(row) for row in rows]).encode())
        return digest.hexdigest()


def pair_counts(connection: Connection, ladder_id: LadderId) -> CountedPairs:
    """The ladder's rated games by players, colours and result."""
    return _read_pairs(connection, _pairs(ladder_id))


def pair_counts_between(
    connection: Connection, ladder_id: LadderId, version_ids: Sequence[BotVersionId]
) -> CountedPairs:
    """The ladder's rated games among some versions, as `pair_counts` has them."""
    return pair_counts_of(connection, ladder_id, version_ids, version_ids)


def pair_counts_of(
    connection: Connection,
    ladder_id: LadderId,
    black: Sequence[BotVersionId],
    white: Sequence[BotVersionId],
) -> CountedPairs:
    """The ladder's rated games of some versions with black against others, as `pair_counts`."""
    players = (Game.black_id.in_(black), Game.white_id.in_(white))
    return _read_pairs(connection, _pairs(ladder_id).where(*players))


def _pairs(ladder_id: LadderId) -> Select[*tuple[Any, ...]]:
    return (
        select(*_PAIR_COUNT)
        .where(*is_rated(ladder_id))
        .group_by(Game.black_id, Game.white_id)
        .order_by(Game.black_id, Game.white_id)
    )


def day_counts(connection: Connection, ladder_id: LadderId) -> Sequence[DayCount]:
    """The ladder's rated games by the day (UTC) that they ended on, sorted."""
    day = func.date(Game.end_time)
    query = (
        select(day, *_PAIR_COUNT)
        .where(*is_rated(ladder_id))
        .group_by(day, Game.black_id, Game.white_id)
        .order_by(day, Game.black_id, Game.white_id)
    )
    return [DayCount(_day(day), PairCount(*pair)) for day, *pair in connection.execute(query)]


def last_days(connection: Connection, ladder_id: LadderId) -> Sequence[LastDay]:
    """The day (UTC) on which each version with rated games last ended one, sorted."""
    query = (
        select(Game.black_id, Game.white_id, func.date(func.max(Game.end_time)))
        .where(*is_rated(ladder_id))
        .group_by(Game.black_id, Game.white_id)
    )
    pairs = connection.execute(query).all()
    return latest_days((player, _day(day)) for *players, day in pairs for player in players)


def results_in_order(connection: Connection, ladder_id: LadderId) -> Sequence[ScoredGame]:
    """The ladder's rated games in the order in which they ended."""
    return _read(connection, _results(ladder_id))


def results_since(
    connection: Connection, ladder_id: LadderId, cutoff: int, *, limit: int
) -> Sequence[ScoredGame]:
    """At most `limit` of the ladder's rated games that ended after an `end_sequence`, in order."""
    query = _results(ladder_id).where(Game.end_sequence > cutoff).limit(limit)
    return _read(connection, query)


def _results(ladder_id: LadderId) -> Select[*tuple[Any, ...]]:
    """The columns of `ScoredGame`."""
    return (
        select(Game.black_id, Game.white_id, POINTS)
        .where(*is_rated(ladder_id))
        .order_by(Game.end_sequence)
    )


def fault_counts(connection: Connection, ladder_id: LadderId) -> Sequence[FaultCount]:
    """How many finished games of the ladder each version has forfeited, sorted."""
    loser = case((Game.at_fault == Party.BLACK, Game.black_id), else_=Game.white_id)
    query = (
        select(*columns_of(FaultCount, version_id=loser, faults=func.count()))
        .where(*_is_finished(ladder_id), Game.at_fault.in_((Party.BLACK, Party.WHITE)))
        .group_by(loser)
    )
    return sorted(_read_as(FaultCount, connection, query))


def snapshot(
    connection: Connection,
    ladder_id: LadderId,
    anchors: Sequence[BotVersionId],
) -> Snapshot:
    """The ladder's games now, in one reading transaction."""
    ladder = ladder_row(connection, ladder_id)
    finished = _is_finished(ladder_id)
    games = connection.scalar(select(func.count()).where(*finished)) or 0
    # Not their maximum: of a million games that took a look at every row.
    last = select(Game.end_sequence).where(*finished).order_by(Game.end_sequence.desc()).limit(1)
    results = results_in_order(connection, ladder_id)
    days = last_days(connection, ladder_id)
    return Snapshot(
        ladder_id=ladder_id,
        name=ladder.name,
        revision=ladder.revision,
        voided=ladder.voided,
        cutoff=connection.scalar(last) or 0,
        pair_counts=pair_counts(connection, ladder_id),
        results=results,
        fault_counts=fault_counts(connection, ladder_id),
        repeats=games - len(results),
        anchors=anchors,
        parents=parents_of(connection, [version for version, _ in days]),
        last_days=days,
    )


class LadderRow(NamedTuple):
    """A ladder without its games."""

    name: str
    revision: int
    voided: int
    """How many of its finished games have been voided."""


def ladder_row(connection: Connection, ladder_id: LadderId) -> LadderRow:
    """A ladder without its games; it has to exist."""
    query = select(*columns_of(LadderRow, Ladder)).where(Ladder.id == ladder_id)
    return LadderRow(**connection.execute(query).mappings().one())


def is_rated(
    ladder_id: LadderId | SQLColumnExpression[LadderId],
) -> tuple[ColumnElement[bool], ...]:
    """That a game counts for the ladder: it has a result, and repeats none before it."""
    return (*_is_finished(ladder_id), Game.is_repeat.is_(False))


def _is_finished(
    ladder_id: LadderId | SQLColumnExpression[LadderId],
) -> tuple[ColumnElement[bool], ...]:
    return (Game.ladder_id == ladder_id, Game.state == GameState.FINISHED)


def _count(result: Result) -> ColumnElement[int]:
    return func.count().filter(Game.result == result)


_PAIR_COUNT = columns_of(
    PairCount,
    Game,
    wins=_count(Result.BLACK_WINS),
    draws=_count(Result.DRAW),
    losses=_count(Result.WHITE_WINS),
)

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


def _read_pairs(connection: Connection, query: Select[*tuple[Any, ...]]) -> CountedPairs:
    """Rows of `_PAIR_COUNT`, a chunk at a time, so that no more of them are tuples at once."""
    numbers = array("q")
    with connection.execute(query) as result:
        assert result.cursor is not None
        while rows := result.cursor.fetchmany(CHUNK):
            numbers.fromlist(list(chain.from_iterable(rows)))  # `extend` takes 8 % longer
    return CountedPairs(numbers)


def _read_as(kind: type[N], connection: Connection, query: Select[*tuple[Any, ...]]) -> Sequence[N]:
    """Rows of plain numbers, whose columns are those of `columns_of`, as NamedTuples."""
    return list(map(kind._make, _read(connection, query)))


def _day(day: date | str) -> date:
    """SQLite has no dates of its own."""
    return date.fromisoformat(day) if isinstance(day, str) else day

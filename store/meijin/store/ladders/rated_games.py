"""The games that ladders are computed from, counted and in order."""

import hashlib
from array import array
from collections import defaultdict
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
    tuple_,
)

from meijin.game import Party, Result
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


class OpeningCount(NamedTuple):
    """The games that one version played with black against another on one opening."""

    black_id: BotVersionId
    white_id: BotVersionId
    opening: int
    wins: int
    draws: int
    losses: int


class CountedOpenings:
    """Counts by players and opening, sorted; in one array, since there may be a million."""

    def __init__(self, numbers: "array[int]") -> None:
        self.numbers = numbers
        """Six a row, in the order of `OpeningCount`."""

    @classmethod
    def of(cls, counts: Iterable[OpeningCount]) -> Self:
        """Of counts that are sorted."""
        return cls(array("q", chain.from_iterable(counts)))

    def __iter__(self) -> Iterator[OpeningCount]:
        numbers = iter(self.numbers)
        return map(OpeningCount._make, zip(*[numbers] * len(OpeningCount._fields), strict=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CountedOpenings) and self.numbers == other.numbers

    __hash__ = None  # type: ignore[assignment]  # an array can change


class DayCount(NamedTuple):
    """The games of one day (UTC) between two versions on one opening."""

    day: date
    counted: OpeningCount


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
    counts: CountedOpenings
    results: Sequence[ScoredGame]
    """In the order in which the games ended."""
    fault_counts: Sequence[FaultCount]
    """Sorted; of repeated games too."""
    repeats: int
    """Finished games that are not rated, since they repeat others."""
    anchors: Sequence[BotVersionId]
    """Sorted."""

    @property
    def games(self) -> int:
        """How many rated games it holds."""
        return len(self.results)

    @property
    def checksum(self) -> str:
        """SHA-256, hexadecimal, of what the ratings follow from, as lines of plain numbers.

        The lines are ``black white opening wins draws losses``, ``black white points``,
        ``version faults`` and ``anchor``, in this order.
        """
        digest = hashlib.sha256()
        for form, rows in (
            ("%d %d %d %d %d %d\n", self.counts),
            ("%d %d %s\n", self.results),
            ("%d %d\n", self.fault_counts),
            ("%d\n", [(anchor,) for anchor in self.anchors]),
        ):
            digest.update("".join([form % tuple(row) for row in rows]).encode())
        return digest.hexdigest()


def pair_counts(connection: Connection, ladder_id: LadderId) -> Sequence[PairCount]:
    """The ladder's rated games by players, colours and result."""
    return _read_as(PairCount, connection, _pairs(ladder_id))


def pair_counts_between(
    connection: Connection, ladder_id: LadderId, version_ids: Sequence[BotVersionId]
) -> Sequence[PairCount]:
    """The ladder's rated games among some versions, as `pair_counts` has them."""
    return pair_counts_of(connection, ladder_id, version_ids, version_ids)


def pair_counts_of(
    connection: Connection,
    ladder_id: LadderId,
    black: Sequence[BotVersionId],
    white: Sequence[BotVersionId],
) -> Sequence[PairCount]:
    """The ladder's rated games of some versions with black against others, as `pair_counts`."""
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


def day_counts(connection: Connection, ladder_id: LadderId) -> Sequence[DayCount]:
    """The ladder's rated games by the day (UTC) that they ended on, sorted."""
    day = func.date(Game.end_time)
    query = (
        select(day, *columns_of(OpeningCount, Game, **_RESULTS))
        .where(*is_rated(ladder_id))
        .group_by(day, Game.black_id, Game.white_id, Game.opening)
        .order_by(day, Game.black_id, Game.white_id, Game.opening)
    )
    return [DayCount(_day(day), OpeningCount(*count)) for day, *count in connection.execute(query)]


def count_openings(games: Iterable[tuple[int, int, int, float]]) -> CountedOpenings:
    """Count games by players and opening.

    Args:
        games: Black, white, opening, and black's points of each.
    """
    scores: dict[tuple[int, int, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    for black, white, opening, points in games:
        scores[black, white, opening][2 - round(2 * points)] += 1
    rows = ((*players, *counts) for players, counts in sorted(scores.items()))
    return CountedOpenings.of(OpeningCount._make(row) for row in rows)


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
    in_order = _results(ladder_id).add_columns(Game.opening)
    games_in_order = _read(connection, in_order)
    results = [(black, white, points) for black, white, points, _ in games_in_order]
    return Snapshot(
        ladder_id=ladder_id,
        name=ladder.name,
        revision=ladder.revision,
        voided=ladder.voided,
        cutoff=connection.scalar(last) or 0,
        counts=count_openings(
            (black, white, opening, points) for black, white, points, opening in games_in_order
        ),
        results=results,
        fault_counts=fault_counts(connection, ladder_id),
        repeats=games - len(results),
        anchors=anchors,
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


def _day(day: date | str) -> date:
    """SQLite has no dates of its own."""
    return date.fromisoformat(day) if isinstance(day, str) else day

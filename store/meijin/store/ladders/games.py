"""Games of ladders: those that count, by players or in order, and the repeats that do not.

Games are the same that have players, colours, opening, moves and end in common: a bot that runs
out of time does another thing than one that resigns on the same board. The first of them is rated
alone. A game that ended before anything was played after its opening repeats none. Its bots have
decided nothing on the board, and why it ended lies outside of it.
"""

import hashlib
import struct
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Select,
    SQLColumnExpression,
    String,
    and_,
    case,
    cast,
    exists,
    func,
    literal,
    literal_column,
    not_,
    or_,
    select,
    tuple_,
)

from meijin.game import Ending, Offer, Party, Result, Variant
from meijin.game.board.moves import MOVE_BYTES
from meijin.store.faults import VoidEvidence
from meijin.store.games import decode_decisions
from meijin.store.rows import columns_of
from meijin.store.schema import (
    BotVersionId,
    Fault,
    FaultKind,
    Game,
    GameId,
    GameState,
    Ladder,
    LadderId,
    Tournament,
    aliased,
)


def hash64(data: bytes) -> int:
    """A hash as a signed number of 64 bits, the form that is kept."""
    digest = hashlib.blake2b(data, digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def opening_key(opening: bytes) -> int:
    """A hash that equal openings share.

    Args:
        opening: Two bytes a cell, little-endian; none for a game that begins on an empty board.
    """
    return hash64(opening)


def settled_opening(moves: bytes, opening_plies: int, decided: bytes | None) -> bytes:
    """The first cells of a game's `moves`: its opening, or the stones of the last decision.

    Args:
        moves: Two bytes a cell, little-endian.
        opening_plies: How many of them the game began with.
        decided: Its decisions as they are stored; ``None`` where there were none. One of the
            cells that were offered counts.
    """
    plies = opening_plies
    if decided is not None:
        last = decode_decisions(decided)[0][-1]
        plies = last.ply + isinstance(last.action, Offer)
    return moves[: MOVE_BYTES * plies]


PLAYERS = struct.Struct("<QQH")
"""Black's and white's versions and the plies of the opening, at the head of what is hashed."""
_MOVE_BYTES = literal_column(str(MOVE_BYTES), Integer)


def fingerprint(
    black_id: BotVersionId, white_id: BotVersionId, opening_plies: int, moves: bytes
) -> int:
    """A hash that equal games share; their ends are not in it."""
    return hash64(PLAYERS.pack(black_id, white_id, opening_plies) + moves)


def repeats_an_earlier() -> ColumnElement[bool]:
    """That a finished game has all of an earlier one of its ladder in common."""
    earlier = aliased(Game)
    has_moves = func.length(Game.moves) > _MOVE_BYTES * Game.opening_plies
    return has_moves & exists(
        select(earlier.id).where(*_is_same(earlier, Game), earlier.end_sequence < Game.end_sequence)
    )


def first_repeat(connection: Connection, game_id: GameId) -> GameId | None:
    """The first that is marked as the same as a finished game of its ladder; ``None`` if none is.

    It is looked for behind the game, in the index of the fingerprints.
    """
    first, later = aliased(Game), aliased(Game)
    query = (
        select(later.id)
        .join_from(first, later, and_(*_is_same(later, first)))
        .where(
            first.id == game_id,
            later.end_sequence > first.end_sequence,
            later.is_repeat.is_(True),
        )
        .order_by(later.end_sequence)
        .limit(1)
    )
    return connection.scalar(query)


def _is_same(one: type[Game], other: type[Game]) -> tuple[ColumnElement[bool], ...]:
    return (
        one.state == GameState.FINISHED,
        *(getattr(one, name) == getattr(other, name) for name in _IN_COMMON),
    )


_IN_COMMON = (
    "ladder_id",
    "fingerprint",
    "black_id",
    "white_id",
    "opening_plies",
    "moves",
    "result",
    "ending",
    "at_fault",
)


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
    is_finished = Game.state == GameState.FINISHED
    return (Game.ladder_id == ladder_id, is_finished, Game.is_repeat.is_(False))


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


CHUNK = 10_000
"""Rows that are read at once where there may be a million."""


class FinishedGame(NamedTuple):
    """A finished game in plain numbers, since a million may be read at once."""

    end_sequence: int
    day: str
    """The day (UTC) that it ended on, as in ``2026-01-31``."""
    black_id: BotVersionId
    white_id: BotVersionId
    opening: int
    """The key of its opening."""
    points: int
    """Black's: 2 for a win, 1 for a draw, 0 for a loss."""
    fault: int
    """Who forfeited: 1 for black, 2 for white, 0 for nobody."""
    is_repeat: bool
    """It is the same as an earlier one, and not rated."""
    id: GameId = GameId(0)
    fingerprint: int = 0
    """Of its players, opening and moves."""


def finished_games(
    connection: Connection, ladder_id: LadderId, *, after: int
) -> Iterator[FinishedGame]:
    """The finished games in the ladder's log after an `end_sequence`, in order, as marked."""
    last = select(Ladder.sequenced).where(Ladder.id == ladder_id).scalar_subquery()
    query = (
        select(*_FINISHED_GAME)
        .where(
            Game.ladder_id == ladder_id,
            Game.state == GameState.FINISHED,
            Game.end_sequence > after,
            Game.end_sequence <= last,
        )
        .order_by(Game.end_sequence)
        .execution_options(yield_per=CHUNK)
    )
    yield from map(FinishedGame._make, connection.execute(query))


def logged_games(
    connection: Connection, ladder_id: LadderId, *, cutoff: int, voided: int
) -> Iterator[FinishedGame]:
    """What `finished_games` gave when the last game was that with an `end_sequence`.

    No mark of a repeat and no key of an opening is believed. Games that were voided since, when
    more than `voided` had been, are what they were before.
    """
    for game, is_repeat in with_repeats(
        read_log(connection, ladder_id, cutoff=cutoff, voided=voided)
    ):
        yield game.finished(is_repeat=is_repeat)


def with_repeats(games: Iterable["LoggedGame"]) -> Iterator[tuple["LoggedGame", bool]]:
    """Each game, and whether it repeats one before it."""
    seen: set[bytes] = set()
    for game in games:
        digest = game.digest
        yield game, game.has_moves and digest in seen
        seen.add(digest)


class LoggedGame(NamedTuple):
    """A game as it was when a run was computed, and what is kept of it now."""

    id: GameId
    state: GameState
    end_sequence: int
    day: str
    end_time: datetime
    black_id: BotVersionId
    white_id: BotVersionId
    opening_plies: int
    decisions: bytes | None
    moves: bytes
    result: Result
    ending: Ending
    at_fault: Party
    is_repeat: bool
    """As it is marked now."""
    opening: int
    """The key that is kept; so the fingerprint."""
    fingerprint: int
    variant: Variant

    @property
    def settled_opening(self) -> int:
        """The key of its opening, by its moves."""
        return opening_key(settled_opening(self.moves, self.opening_plies, self.decisions))

    def finished(self, *, is_repeat: bool) -> FinishedGame:
        """What a tally adds up, by its moves alone."""
        return FinishedGame(
            end_sequence=self.end_sequence,
            day=self.day,
            black_id=self.black_id,
            white_id=self.white_id,
            opening=self.settled_opening,
            points=_POINTS[self.result],
            fault=_FAULTS.get(self.at_fault, 0),
            is_repeat=is_repeat,
            id=self.id,
            fingerprint=fingerprint(self.black_id, self.white_id, self.opening_plies, self.moves),
        )

    @property
    def has_moves(self) -> bool:
        return len(self.moves) > MOVE_BYTES * self.opening_plies

    @property
    def digest(self) -> bytes:
        """Equal for games with the same players, opening, moves and end alone."""
        players = b"%d %d %d " % (self.black_id, self.white_id, self.opening_plies)
        end = f"{self.result.value} {self.ending.value} {self.at_fault.value} "
        return hashlib.sha256(players + end.encode() + self.moves).digest()


def read_log(
    connection: Connection, ladder_id: LadderId, *, cutoff: int, voided: int
) -> Iterator[LoggedGame]:
    """The finished games up to a cutoff, in order; those voided later are what they were."""
    games = (
        select(*columns_of(LoggedGame, Game, Tournament, day=_ENDED_ON))
        .join(Tournament, Tournament.id == Game.tournament_id)
        .where(Game.ladder_id == ladder_id, Game.end_sequence <= cutoff)
        .order_by(Game.end_sequence)
        .execution_options(yield_per=CHUNK)
    )
    before = {each.game_id: each.was for each in voids_since(connection, ladder_id, voided)}
    for row in connection.execute(games).mappings():
        game = LoggedGame(**row)
        if game.id in before:
            was = before[game.id]
            yield game._replace(result=was.result, ending=was.ending, at_fault=was.at_fault)
        elif game.state is GameState.FINISHED:
            yield game


def games_of_day(
    connection: Connection, ladder_id: LadderId, day: date, what: tuple[int, int, int]
) -> Sequence[GameId]:
    """The games of black, white and an opening that ended on a day (UTC), void ones too."""
    query = (
        select(Game.id)
        .where(
            Game.ladder_id == ladder_id,
            tuple_(Game.black_id, Game.white_id, Game.opening) == what,
            _ENDED_ON.in_((day.isoformat(),)),
        )
        .order_by(Game.end_sequence)
    )
    return connection.scalars(query).all()


class VoidedGame(NamedTuple):
    """A finished game that was voided."""

    game_id: GameId
    end_sequence: int
    was: VoidEvidence
    time: datetime
    """When it was voided."""


def voids_since(connection: Connection, ladder_id: LadderId, voided: int) -> list[VoidedGame]:
    """A ladder's finished games that were voided, but for the first `voided` of them."""
    query = (
        select(Fault.game_id, Game.end_sequence, Fault.evidence, Fault.create_time)
        .join(Game, Game.id == Fault.game_id)
        .where(
            Game.ladder_id == ladder_id,
            Fault.kind == FaultKind.VOIDED,
        )
        .order_by(Fault.id)
    )
    voids = [
        VoidedGame(game_id, end_sequence, was, time)
        for game_id, end_sequence, evidence, time in connection.execute(query)
        if (was := VoidEvidence.from_json(evidence)) is not None
    ]
    return voids[voided:]


_POINTS = {Result.BLACK_WINS: 2, Result.DRAW: 1, Result.WHITE_WINS: 0}
_FAULTS = {Party.BLACK: 1, Party.WHITE: 2}
_ENDED_ON: ColumnElement[str] = cast(func.date(Game.end_time), String)
"""As text on both databases."""
_FINISHED_GAME = columns_of(
    FinishedGame,
    Game,
    day=_ENDED_ON,
    points=case(*((Game.result == result, literal(key)) for result, key in _POINTS.items())),
    fault=case(
        *((Game.at_fault == party, literal(key)) for party, key in _FAULTS.items()), else_=0
    ),
)

"""Games: looked up, listed, and restored when a server starts."""

import struct
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import nlargest
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    LargeBinary,
    Select,
    String,
    TextClause,
    func,
    null,
    or_,
    select,
    type_coerce,
)

from meijin.game import (
    Color,
    Decision,
    Ending,
    Party,
    Result,
    Rule,
    TimeControl,
    Variant,
    encode_action,
)
from meijin.game.board.moves import MOVE_BYTES, little_endian
from meijin.game.position import decode_decision, is_offer
from meijin.store.bots import version_ids
from meijin.store.errors import RowNotFoundError
from meijin.store.rows import columns_of, read_row, read_rows
from meijin.store.schema import (
    GAME_IS_NOT_FINISHED,
    Bot,
    BotId,
    BotVersion,
    BotVersionId,
    Game,
    GameId,
    GameState,
    Ladder,
    LadderId,
    Pairing,
    Tournament,
    TournamentId,
    aliased,
    computed,
)

_DECISION = struct.Struct("<HHQQ")
"""Ply, colour, raw and charged nanoseconds."""

_BLACK, _WHITE = aliased(BotVersion), aliased(BotVersion)
_BLACK_BOT, _WHITE_BOT = aliased(Bot), aliased(Bot)


class GameRow(Game):
    """One game with the names of its bots.

    Without what the bots thought, which may be a hundred times as much as all the rest.
    """

    variant: Variant = computed(Tournament.variant)
    time_control: TimeControl = computed(
        func.coalesce(Pairing.time_control, Tournament.time_control)
    )
    black: str = computed(_BLACK_BOT.name)
    white: str = computed(_WHITE_BOT.name)
    black_bot_id: BotId = computed(_BLACK_BOT.id)
    white_bot_id: BotId = computed(_WHITE_BOT.id)
    black_version: str = computed(_BLACK.label)
    white_version: str = computed(_WHITE.label)
    black_digest: str = computed(_BLACK.digest, default="")
    white_digest: str = computed(_WHITE.digest, default="")
    black_configuration: Sequence[str] = computed(_BLACK.configuration, default=())
    white_configuration: Sequence[str] = computed(_WHITE.configuration, default=())
    round: int = computed(Pairing.round, default=0)
    pair: int = computed(Pairing.pair, default=0)
    seed: int = computed(Tournament.seed, default=0)
    reason: str = computed(Pairing.reason)
    """Why the two were to meet; empty when a schedule said so."""
    ladder: str = computed(func.coalesce(Ladder.name, ""), default="")
    """The ladder's name; empty when it is not rated."""
    tournament_name: str = computed(Tournament.name, default="")
    time_controls: Mapping[BotId, TimeControl] = computed(
        Tournament.time_controls, default_factory=dict
    )
    """Those of its tournament by bot; empty where all have the same."""

    def control_of(self, bot_id: BotId) -> TimeControl:
        """What a bot gets on its clock."""
        return self.time_controls.get(bot_id, self.time_control)


def encode_times(raw: "array[int]", charged: "array[int]") -> bytes:
    """The nanoseconds of every move as they are stored; both columns of one length."""
    return b"".join(little_endian(array("Q", column)).tobytes() for column in (raw, charged))


def decode_times(data: bytes) -> "tuple[array[int], array[int]]":
    """Raw and charged nanoseconds of every move; the inverse of `encode_times`."""
    raw, charged = array("Q"), array("Q")
    raw.frombytes(data[: len(data) // 2])
    charged.frombytes(data[len(data) // 2 :])
    return little_endian(raw), little_endian(charged)


def encode_decisions(
    decisions: Iterable[Decision], times: Iterable[tuple[int, int]]
) -> bytes | None:
    """The decisions of an opening as they are stored, with raw and charged nanoseconds of each.

    ``None`` for none.
    """
    packed = bytearray()
    for (ply, action), (raw_ns, charged_ns) in zip(decisions, times, strict=True):
        code, *others = encode_action(action)
        packed += _DECISION.pack(ply, code, raw_ns, charged_ns)
        for other in others:
            packed += _DECISION.pack(ply, other, 0, 0)
    return bytes(packed) or None


def decode_decisions(data: bytes | None) -> tuple[list[Decision], list[tuple[int, int]]]:
    """The inverse of `encode_decisions`."""
    decisions, times = list[Decision](), list[tuple[int, int]]()
    rows = _DECISION.iter_unpack(data or b"")
    for _, group in groupby(rows, key=lambda row: (row[0], is_offer(row[1]) or row[1])):
        (ply, code, raw_ns, charged_ns), *others = group
        decisions.append(Decision(ply, decode_decision([code, *(row[1] for row in others)])))
        times.append((raw_ns, charged_ns))
    return decisions, times


def get_game(connection: Connection, game_id: GameId) -> GameRow:
    """One game.

    Raises:
        RowNotFoundError: there is none of that id.
    """
    row = read_row(GameRow, connection.execute(_games().where(Game.id == game_id)))
    if row is None:
        raise RowNotFoundError(f"no game {game_id}; list the games to see their ids")
    return row


_OWN = aliased(Tournament)
_WRITTEN_VARIANT = type_coerce(
    select(_OWN.variant).where(_OWN.id == Game.tournament_id).correlate(Game).scalar_subquery(),
    String,
)
"""Begins with the rule's name; read game by game, so that games stay in their order."""


@dataclass(frozen=True, slots=True)
class NarrowFilter:
    """What is true of so few games that they are looked for in a bounded number at once."""

    result: Result | None = None
    ending: Ending | None = None
    rule: Rule | None = None
    min_plies: int = 0
    max_plies: int | None = None
    opponent: BotId | None = None
    """Of whose versions one has played."""

    def conditions(self) -> Iterator[ColumnElement[bool]]:
        if self.result is not None:
            yield Game.result == self.result
        if self.ending is not None:
            yield Game.ending == self.ending
        if self.rule is not None:
            yield _WRITTEN_VARIANT.startswith(f"{self.rule.name} ")
        stones = func.length(Game.moves) / MOVE_BYTES
        if self.min_plies or self.max_plies is not None:
            yield Game.state != GameState.RUNNING
            yield stones >= self.min_plies
        if self.max_plies is not None:
            yield stones <= self.max_plies
        if self.opponent is not None:
            versions = select(BotVersion.id).where(BotVersion.bot_id == self.opponent)
            sides = (Game.black_id + 0, Game.white_id + 0)  # else SQLite would sort all of theirs
            yield or_(*(side.in_(versions) for side in sides))


ANY_GAME = NarrowFilter()

LOOKED_THROUGH = 20_000
"""Games among which a page of a narrow filter is looked for."""


def look_floor(
    connection: Connection,
    *,
    before: int | None,
    tournament_id: TournamentId | None = None,
    bot_id: BotId | None = None,
) -> GameId | None:
    """The last game of a bounded look at all, or at those of a tournament or of a bot.

    ``None`` where there are no more than it looks through.
    """
    conditions = [] if before is None else [Game.id < before]
    if bot_id is not None:
        versions = version_ids(connection, bot_id)
        found = newest_games(connection, versions, LOOKED_THROUGH, *conditions)
        return found[-1] if len(found) == LOOKED_THROUGH else None
    if tournament_id is not None:
        query = select(Game.id).where(Game.tournament_id == tournament_id, *conditions)
        return connection.scalar(query.order_by(Game.id.desc()).offset(LOOKED_THROUGH - 1).limit(1))
    newest = last_game(connection) + 1 if before is None else before
    return GameId(newest - LOOKED_THROUGH) if newest > LOOKED_THROUGH else None


def list_games(
    connection: Connection,
    *,
    limit: int,
    before: int | None = None,
    narrow: NarrowFilter = ANY_GAME,
    floor: GameId | None = None,
    tournament_id: TournamentId | None = None,
    bot_id: BotId | None = None,
    state: GameState | None = None,
    ladder_id: LadderId | None = None,
    start_time: datetime | None = None,
    end_time: datetime | None = None,
) -> Sequence[GameRow]:
    """Games, newest first, from the one before the id `before`.

    Those of a ladder, and those that started from `start_time` on and before `end_time`, are
    looked for among all others in the same order, so that all pages together cost one look at
    each game.

    Those of a bot are sought version by version and colour by colour in the order of their ids,
    so that no more of them are read than are listed of each.

    Args:
        floor: The last game that is looked at, see `look_floor`.
    """
    conditions: list[ColumnElement[bool] | TextClause] = []
    if before is not None:
        conditions.append(Game.id < before)
    if tournament_id is not None:
        conditions.append(Game.tournament_id == tournament_id)
    if state is not None:
        conditions.append(Game.state == state)
    if state not in {None, GameState.FINISHED}:
        conditions.append(GAME_IS_NOT_FINISHED)
    if ladder_id is not None:
        conditions.append(Game.ladder_id + 0 == ladder_id)  # else SQLite would sort all of them
    if start_time is not None:
        conditions.append(Game.start_time >= start_time)
    if end_time is not None:
        conditions.append(Game.start_time < end_time)
    if floor is not None:
        conditions.append(Game.id >= floor)
    conditions += narrow.conditions()
    query = _games().order_by(Game.id.desc())
    if bot_id is None:
        query = query.where(*conditions).limit(limit)
    else:
        versions = version_ids(connection, bot_id)
        query = query.where(Game.id.in_(newest_games(connection, versions, limit, *conditions)))
    return read_rows(GameRow, connection.execute(query))


def games_of_tournament(
    connection: Connection, tournament_id: TournamentId, *, after: GameId, limit: int
) -> Sequence[GameRow]:
    """The games of a tournament in the order of their starts, from the one after the id `after`."""
    query = _games().where(Game.tournament_id == tournament_id, Game.id > after)
    return read_rows(GameRow, connection.execute(query.order_by(Game.id).limit(limit)))


def games_by_id(connection: Connection, game_ids: Iterable[GameId]) -> Sequence[GameRow]:
    """Some games in the order of their starts."""
    query = _games().where(Game.id.in_(list(game_ids))).order_by(Game.id)
    return read_rows(GameRow, connection.execute(query))


def newest_games(
    connection: Connection,
    versions: Iterable[BotVersionId],
    limit: int,
    *conditions: ColumnElement[bool] | TextClause,
) -> Sequence[GameId]:
    """The newest games of some versions under some conditions, newest first.

    Each version's and colour's are read from where the newest so far begin.
    """
    found: list[GameId] = []
    for version_id in versions:
        for column in (Game.black_id, Game.white_id):
            later = Game.id > (found[-1] if len(found) == limit else 0)
            query = select(Game.id).where(column == version_id, later, *conditions)
            found += connection.scalars(query.order_by(Game.id.desc()).limit(limit))
            found = nlargest(limit, found)
    return found


class FirstMoves(NamedTuple):
    """A game with a result, as far as its first moves."""

    id: GameId
    variant: Variant
    black_id: BotVersionId
    result: Result
    opening_plies: int
    decisions: bytes | None
    moves: bytes
    """Two bytes a cell, little-endian."""


def first_moves(
    connection: Connection, version_id: BotVersionId, *, limit: int, plies: int
) -> Sequence[FirstMoves]:
    """The newest games of a version that have a result, newest first, each up to a ply."""
    found = newest_games(connection, [version_id], limit, Game.state == GameState.FINISHED)
    moves = func.substr(Game.moves, 1, MOVE_BYTES * plies, type_=LargeBinary())
    # SQLite makes nothing of no bytes.
    columns = columns_of(FirstMoves, Game, Tournament, moves=func.coalesce(moves, Game.moves))
    query = select(*columns).join(Tournament, Tournament.id == Game.tournament_id)
    rows = connection.execute(query.where(Game.id.in_(found)).order_by(Game.id.desc()))
    return list(map(FirstMoves._make, rows))


def analyses(connection: Connection, game_ids: Iterable[GameId]) -> dict[GameId, dict[str, Any]]:
    """What the bots thought in ended games, by ply; games of which they said nothing are missing.

    They may be a megabyte a game: ask for few games at once.
    """
    query = select(Game.id, Game.analysis).where(
        Game.id.in_(list(game_ids)), Game.analysis.is_not(None)
    )
    return {GameId(key): said for key, said in connection.execute(query) if said}


@dataclass(frozen=True, slots=True)
class ToldScores:
    """What a version said of its moves in a game, and what became of it."""

    points: float
    scores: Sequence[int]


def told_scores(
    connection: Connection, version_id: BotVersionId, game_ids: Iterable[GameId]
) -> Sequence[ToldScores]:
    """The scores that a version told in some of its games that nobody forfeited."""
    mine = (Game.id.in_(list(game_ids)), Game.at_fault == Party.NOBODY)
    query = select(Game.black_id, Game.result, Game.analysis).where(*mine)
    found = []
    for black_id, result, said in connection.execute(query):
        side, color = (0, Color.BLACK) if black_id == version_id else (1, Color.WHITE)
        own = (each.get("score") for ply, each in (said or {}).items() if int(ply) % 2 == side)
        found.append(
            ToldScores(result.points(color), [score for score in own if score is not None])
        )
    return found


def running_games(connection: Connection) -> Sequence[GameRow]:
    is_running = (Game.state == GameState.RUNNING, GAME_IS_NOT_FINISHED)
    query = _games().where(*is_running).order_by(Game.id)
    return read_rows(GameRow, connection.execute(query))


def last_game(connection: Connection) -> GameId:
    """The highest id given so far; 0 when there is none."""
    return GameId(connection.scalar(select(func.max(Game.id))) or 0)


def last_end(connection: Connection) -> int:
    """The highest `end_sequence` given so far; 0 when there is none.

    Games are in the order of their ends by ladder alone, and those of none likewise.
    """
    last = select(func.max(Game.end_sequence)).where(Game.ladder_id == Ladder.id)
    of_ladders = select(func.max(last.correlate(Ladder).scalar_subquery())).select_from(Ladder)
    return max(connection.scalar(of_ladders) or 0, last_unrated_end(connection))


def last_unrated_end(connection: Connection) -> int:
    """The highest `end_sequence` of a game of no ladder; 0 when there is none."""
    query = (
        select(Game.end_sequence)
        .where(Game.ladder_id.is_(None), Game.end_sequence.is_not(None))
        .order_by(Game.ladder_id.desc(), Game.end_sequence.desc())
    )
    return connection.scalar(query.limit(1)) or 0


_COLUMNS = columns_of(GameRow, analysis=null())


def _games() -> Select[*tuple[Any, ...]]:
    return (
        select(*_COLUMNS)
        .select_from(Game)
        .join(Pairing, Pairing.id == Game.pairing_id)
        .join(Tournament, Tournament.id == Game.tournament_id)
        .join(_BLACK, _BLACK.id == Game.black_id)
        .join(_WHITE, _WHITE.id == Game.white_id)
        .join(_BLACK_BOT, _BLACK_BOT.id == _BLACK.bot_id)
        .join(_WHITE_BOT, _WHITE_BOT.id == _WHITE.bot_id)
        .outerjoin(Ladder, Ladder.id == Game.ladder_id)
    )

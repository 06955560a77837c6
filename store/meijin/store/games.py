"""Games: looked up, listed, and restored when a server starts."""

import struct
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import nlargest
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, TextClause, func, select
from sqlalchemy.orm import aliased

from meijin.game import Color, Ending, Party, Result, SideChoice, TimeControl, Variant
from meijin.game.board.byte_order import little_endian
from meijin.store.bots import version_ids
from meijin.store.errors import UnknownGameError
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
    PairingId,
    Tournament,
    TournamentId,
)
from meijin.store.tournaments.sides import read_time_controls

_CHOICE = struct.Struct("<HHQQ")
"""Ply, colour, raw and charged nanoseconds."""


@dataclass(frozen=True, slots=True)
class GameRow:
    """One game with the names of its bots.

    Without what the bots thought, which may be a hundred times as much as all the rest.
    """

    id: GameId
    pairing_id: PairingId
    tournament_id: TournamentId
    variant: Variant
    time_control: TimeControl
    black: str
    white: str
    black_id: BotId
    white_id: BotId
    black_version_id: BotVersionId
    white_version_id: BotVersionId
    black_version: str
    white_version: str
    state: GameState
    opening_plies: int
    moves: bytes
    times: bytes
    result: Result
    ending: Ending | None
    at_fault: Party
    detail: str
    start_time: datetime
    end_time: datetime | None
    is_repeat: bool
    """An earlier game of the ladder was the same, so this one is not rated."""
    reason: str
    """Why the two were to meet; empty when a schedule said so."""
    ladder_id: LadderId | None = None
    """``None`` when it is not rated."""
    ladder: str = ""
    """That ladder's name; empty when it is not rated."""
    tournament_name: str = ""
    choice: bytes | None = None
    """The choice of a side; ``None`` where none was made, and while it runs."""
    is_swapped: bool = False
    """The first player had white in the end."""
    time_controls: dict[str, Any] | None = None
    """Those of its tournament by bot, as they are stored; ``None`` where all have the same."""

    def control_of(self, bot_id: BotId) -> TimeControl:
        """What a bot gets on its clock."""
        return read_time_controls(self.time_controls).get(bot_id, self.time_control)


def encode_times(raw: "array[int]", charged: "array[int]") -> bytes:
    """The nanoseconds of every move as they are stored; both columns of one length."""
    return b"".join(little_endian(array("Q", column)).tobytes() for column in (raw, charged))


def decode_times(data: bytes) -> "tuple[array[int], array[int]]":
    """Raw and charged nanoseconds of every move; the inverse of `encode_times`."""
    raw, charged = array("Q"), array("Q")
    raw.frombytes(data[: len(data) // 2])
    charged.frombytes(data[len(data) // 2 :])
    return little_endian(raw), little_endian(charged)


def encode_choice(choice: SideChoice, raw_ns: int, charged_ns: int) -> bytes:
    """The choice of a side as it is stored, with its nanoseconds."""
    return _CHOICE.pack(choice.ply, choice.color, raw_ns, charged_ns)


def decode_choice(data: bytes) -> tuple[SideChoice, int, int]:
    """The inverse of `encode_choice`."""
    ply, color, raw_ns, charged_ns = _CHOICE.unpack(data)
    return SideChoice(ply, Color(color)), raw_ns, charged_ns


def get_game(connection: Connection, game_id: GameId) -> GameRow:
    """One game.

    Raises:
        UnknownGameError: there is none of that id.
    """
    row = read_row(GameRow, connection.execute(_games().where(Game.id == game_id)))
    if row is None:
        raise UnknownGameError(f"no game {game_id}; list the games to see their ids")
    return row


def list_games(
    connection: Connection,
    *,
    limit: int,
    before: int | None = None,
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
    query = _games().order_by(Game.id.desc())
    if bot_id is None:
        query = query.where(*conditions).limit(limit)
    else:
        query = query.where(Game.id.in_(_newest_of(connection, bot_id, conditions, limit)))
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


def _newest_of(
    connection: Connection,
    bot_id: BotId,
    conditions: Sequence[ColumnElement[bool] | TextClause],
    limit: int,
) -> Sequence[GameId]:
    """The newest games of a bot under some conditions, at most so many."""
    found: list[GameId] = []
    for version_id in version_ids(connection, bot_id):
        for column in (Game.black_id, Game.white_id):
            query = select(Game.id).where(column == version_id, *conditions)
            found += connection.scalars(query.order_by(Game.id.desc()).limit(limit))
        found = nlargest(limit, found)
    return found


def analyses(connection: Connection, game_ids: Iterable[GameId]) -> dict[GameId, dict[str, Any]]:
    """What the bots thought in ended games, by ply; games of which they said nothing are missing.

    They may be a megabyte a game: ask for few games at once.
    """
    query = select(Game.id, Game.analysis).where(
        Game.id.in_(list(game_ids)), Game.analysis.is_not(None)
    )
    return {GameId(key): said for key, said in connection.execute(query) if said}


def running_games(connection: Connection) -> Sequence[GameRow]:
    """The games that were being played when the last server ended."""
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
    of_none = (
        select(Game.end_sequence)
        .where(Game.ladder_id.is_(None), Game.end_sequence.is_not(None))
        .order_by(Game.ladder_id.desc(), Game.end_sequence.desc())
        .limit(1)
    )
    return max(connection.scalar(query) or 0 for query in (of_ladders, of_none))


_BLACK, _WHITE = aliased(BotVersion), aliased(BotVersion)
_BLACK_BOT, _WHITE_BOT = aliased(Bot), aliased(Bot)
_COLUMNS = columns_of(
    GameRow,
    Game,
    Tournament,
    black=_BLACK_BOT.name,
    white=_WHITE_BOT.name,
    black_id=_BLACK_BOT.id,
    white_id=_WHITE_BOT.id,
    black_version_id=Game.black_id,
    white_version_id=Game.white_id,
    black_version=_BLACK.label,
    white_version=_WHITE.label,
    reason=Pairing.reason,
    ladder=func.coalesce(Ladder.name, ""),
    tournament_name=Tournament.name,
    time_control=func.coalesce(Pairing.time_control, Tournament.time_control),
)


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

"""Games as they are kept: looked up, listed, and restored when a server starts."""

import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, func, select
from sqlalchemy.orm import aliased

from meijin.game import Ending, Party, Result
from meijin.store.schema import (
    Bot,
    BotId,
    BotVersion,
    BotVersionId,
    Game,
    GameId,
    GameState,
    Pairing,
    PairingId,
    Tournament,
    TournamentId,
)


@dataclass(frozen=True, slots=True)
class GameRow:
    """One game with the names of its bots."""

    id: GameId
    pairing_id: PairingId
    tournament_id: TournamentId
    variant: str
    time_control: str
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
    analysis: dict[str, Any] | None
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


def encode_times(raw: "array[int]", charged: "array[int]") -> bytes:
    """The nanoseconds of every move as they are stored; both columns of one length."""
    return _little_endian(raw).tobytes() + _little_endian(charged).tobytes()


def decode_times(data: bytes) -> "tuple[array[int], array[int]]":
    """Raw and charged nanoseconds of every move; the inverse of `encode_times`."""
    raw, charged = array("Q"), array("Q")
    raw.frombytes(data[: len(data) // 2])
    charged.frombytes(data[len(data) // 2 :])
    return _little_endian(raw), _little_endian(charged)


def _little_endian(column: "array[int]") -> "array[int]":
    if sys.byteorder == "big":
        column = array("Q", column)
        column.byteswap()
    return column


def get_game(connection: Connection, game_id: GameId) -> GameRow | None:
    """One game, or ``None``."""
    row = connection.execute(_games().where(Game.id == game_id)).one_or_none()
    return None if row is None else GameRow(*row)


def list_games(
    connection: Connection,
    *,
    limit: int,
    before: int | None = None,
    tournament_id: TournamentId | None = None,
    bot_id: BotId | None = None,
    state: GameState | None = None,
) -> Sequence[GameRow]:
    """Games, newest first, from the one before the id `before`."""
    query = _games().order_by(Game.id.desc()).limit(limit)
    if before is not None:
        query = query.where(Game.id < before)
    if tournament_id is not None:
        query = query.where(Game.tournament_id == tournament_id)
    if bot_id is not None:
        query = query.where((_BLACK.bot_id == bot_id) | (_WHITE.bot_id == bot_id))
    if state is not None:
        query = query.where(Game.state == state)
    return [GameRow(*row) for row in connection.execute(query)]


def running_games(connection: Connection) -> Sequence[GameRow]:
    """The games that were being played when the last server ended."""
    query = _games().where(Game.state == GameState.RUNNING).order_by(Game.id)
    return [GameRow(*row) for row in connection.execute(query)]


def last_game(connection: Connection) -> GameId:
    """The highest id given so far; 0 when there is none."""
    return GameId(connection.scalar(select(func.max(Game.id))) or 0)


def last_end(connection: Connection) -> int:
    """The highest `end_sequence` given so far; 0 when there is none."""
    return connection.scalar(select(func.max(Game.end_sequence))) or 0


_BLACK, _WHITE = aliased(BotVersion), aliased(BotVersion)


def _games() -> Select[*tuple[Any, ...]]:
    black, white = aliased(Bot), aliased(Bot)
    return (
        select(
            Game.id,
            Game.pairing_id,
            Game.tournament_id,
            Tournament.variant,
            func.coalesce(Pairing.time_control, Tournament.time_control),
            black.name,
            white.name,
            black.id,
            white.id,
            Game.black_id,
            Game.white_id,
            _BLACK.label,
            _WHITE.label,
            Game.state,
            Game.opening_plies,
            Game.moves,
            Game.times,
            Game.analysis,
            Game.result,
            Game.ending,
            Game.at_fault,
            Game.detail,
            Game.start_time,
            Game.end_time,
            Game.is_repeat,
            Pairing.reason,
        )
        .join(Pairing, Pairing.id == Game.pairing_id)
        .join(Tournament, Tournament.id == Game.tournament_id)
        .join(_BLACK, _BLACK.id == Game.black_id)
        .join(_WHITE, _WHITE.id == Game.white_id)
        .join(black, black.id == _BLACK.bot_id)
        .join(white, white.id == _WHITE.bot_id)
    )

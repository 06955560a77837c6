"""Pairings: planned games, and those of them that are still to be played."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from sqlalchemy import Connection, Table, func, insert, select, update

from meijin.game import TIME_CLASSES, TimeClasses, TimeControl
from meijin.store.prepared import Prepared
from meijin.store.rows import columns_of, read_rows
from meijin.store.schema import (
    GAME_IS_NOT_FINISHED,
    BotId,
    Entrant,
    Game,
    GameState,
    LadderId,
    Pairing,
    PairingId,
    Tournament,
    TournamentId,
    TournamentState,
)
from meijin.store.tournaments.ladder_choice import ladders_by_control

_PAIRING_TABLE: Table = Pairing.__table__  # type: ignore[assignment]
_INSERT_PAIRING = Prepared(insert(_PAIRING_TABLE).inline())


@dataclass(frozen=True, slots=True)
class PlannedGame:
    """One place of a schedule before it is stored."""

    round: int
    black_id: BotId
    white_id: BotId
    opening: bytes
    reason: str = ""
    """Why the two are to meet; empty when a schedule says so."""
    time_control: TimeControl | None = None
    """``None`` for the tournament's."""


@dataclass(frozen=True, slots=True)
class PendingPairing:
    """A planned game that is not played yet."""

    id: PairingId
    number: int
    black_id: BotId
    white_id: BotId
    opening: bytes
    reason: str = ""
    """Why the two are to meet; empty when a schedule says so."""
    time_control: TimeControl | None = None
    """``None`` for the tournament's."""
    ladder_id: LadderId | None = None
    """``None`` for the tournament's."""


_PAIRING = columns_of(PendingPairing, Pairing)


def insert_pairings(
    connection: Connection,
    tournament_id: TournamentId,
    first: int,
    games: Sequence[PlannedGame],
    ladders: Mapping[TimeControl, LadderId] = MappingProxyType({}),
) -> None:
    """Store planned games, numbered from `first` on.

    Args:
        ladders: Those of time controls of another class than the tournament's.
    """
    rows = [
        {
            "tournament_id": tournament_id,
            "number": number,
            "round": game.round,
            "black_id": game.black_id,
            "white_id": game.white_id,
            "opening": game.opening,
            "reason": game.reason,
            "time_control": game.time_control,
            "ladder_id": game.time_control and ladders.get(game.time_control),
        }
        for number, game in enumerate(games, start=first)
    ]
    if rows:
        _INSERT_PAIRING.execute(connection, rows)


def add_pairings(
    connection: Connection,
    tournament_id: TournamentId,
    first: int,
    games: Sequence[PlannedGame],
    time_classes: TimeClasses = TIME_CLASSES,
) -> Sequence[PendingPairing]:
    """Plan more games of a tournament, numbered from `first` on.

    When there are games from that number on already, they are what is returned: the commit may
    have happened and its answer been lost. There are none of a tournament that was decided before.
    """
    query = (
        select(*_PAIRING)
        .where(Pairing.tournament_id == tournament_id, Pairing.number >= first)
        .order_by(Pairing.number)
    )
    rows = read_rows(PendingPairing, connection.execute(query))
    state = select(Tournament.state).where(Tournament.id == tournament_id)
    if not rows and connection.scalar(state) is not TournamentState.FINISHED:
        own = {game.time_control for game in games if game.time_control is not None}
        ladders = ladders_by_control(connection, tournament_id, own, time_classes)
        insert_pairings(connection, tournament_id, first, games, ladders)
        enter(connection, tournament_id, games)
        change = update(Tournament).where(Tournament.id == tournament_id)
        connection.execute(change.values(planned=Tournament.planned + len(games)))
        rows = read_rows(PendingPairing, connection.execute(query))
    return rows


def enter(
    connection: Connection, tournament_id: TournamentId, games: Sequence[PlannedGame]
) -> None:
    """Enter who plays for the first time in a tournament that everyone may play in."""
    mine = Entrant.tournament_id == tournament_id
    lowest = connection.scalar(select(func.min(Entrant.seat)).where(mine)) or 0
    if lowest == 0 and connection.scalar(select(Entrant.seat).where(mine).limit(1)) is not None:
        return
    playing = {bot_id for game in games for bot_id in (game.black_id, game.white_id)}
    known = select(Entrant.bot_id).where(mine, Entrant.bot_id.in_(playing))
    new = sorted(playing - set(connection.scalars(known)))
    if new:
        rows = [
            {"tournament_id": tournament_id, "seat": lowest - place, "bot_id": bot_id}
            for place, bot_id in enumerate(new, start=1)
        ]
        connection.execute(insert(Entrant), rows)


def last_number(connection: Connection, tournament_id: TournamentId) -> int:
    """The highest number of a tournament's planned games; 0 when there is none."""
    query = select(func.max(Pairing.number)).where(Pairing.tournament_id == tournament_id)
    return connection.scalar(query) or 0


def pending_pairings(
    connection: Connection,
    tournament_id: TournamentId,
    *,
    after: int = 0,
    limit: int | None = None,
) -> Sequence[PendingPairing]:
    """A tournament's planned games without a result or a running game, in schedule order.

    Args:
        after: The number before the first.
        limit: The most of them; ``None`` for all.
    """
    query = (
        select(*_PAIRING)
        .select_from(Pairing)
        .outerjoin(Game, (Game.pairing_id == Pairing.id) & (Game.state != GameState.VOID))
        .where(Pairing.tournament_id == tournament_id, Pairing.number > after, Game.id.is_(None))
        .order_by(Pairing.number)
        .limit(limit)
    )
    # By place, and not by name: a million of them are read, and their columns are its fields.
    return [PendingPairing(*row) for row in connection.execute(query)]


def running_pairings(connection: Connection) -> dict[PairingId, PendingPairing]:
    """The planned games that were being played when the last server ended."""
    query = (
        select(*_PAIRING)
        .select_from(Pairing)
        .join(Game, Game.pairing_id == Pairing.id)
        .where(Game.state == GameState.RUNNING, GAME_IS_NOT_FINISHED)
    )
    return {row.id: row for row in read_rows(PendingPairing, connection.execute(query))}

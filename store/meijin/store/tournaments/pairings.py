"""Pairings: planned games, the ladders they count for, and those still to be played."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from sqlalchemy import Connection, func, insert, select

from meijin.game import TIME_CLASSES, TimeClass, TimeClasses, TimeControl, Variant
from meijin.store.prepared import Prepared
from meijin.store.rows import add_row, add_rows, change_row, columns_of, read_rows
from meijin.store.schema import (
    GAME_IS_NOT_FINISHED,
    BotId,
    Entrant,
    Game,
    GameState,
    Ladder,
    LadderId,
    Pairing,
    PairingId,
    Tournament,
    TournamentId,
    TournamentState,
)


def ladder_name(variant: Variant, time_class: TimeClass) -> str:
    """What a ladder is called, such as ``freestyle-15x15-blitz``."""
    return f"{variant} {time_class.name}".replace(" ", "-")


def ladder_of(connection: Connection, variant: Variant, time_class: TimeClass) -> LadderId:
    """The ladder of a variant and a class of time control; made when there is none."""
    name = ladder_name(variant, time_class)
    found = connection.scalar(select(Ladder.id).where(Ladder.name == name))
    if found is not None:
        return found
    return add_row(connection, Ladder(name=name, variant=variant, time_class=time_class)).id


def ladders_by_control(
    connection: Connection,
    tournament_id: TournamentId,
    controls: Iterable[TimeControl],
    classes: TimeClasses,
) -> Mapping[TimeControl, LadderId]:
    """The ladders of some time controls in a tournament, where they are not the tournament's own.

    Empty for a tournament whose games are not rated.
    """
    query = select(Tournament.variant, Tournament.ladder_id, Ladder.time_class)
    joined = query.join(Ladder, Ladder.id == Tournament.ladder_id)
    row = connection.execute(joined.where(Tournament.id == tournament_id)).one_or_none()
    if row is None:
        return {}
    others = {control: classes.of(control) for control in controls}
    return {
        control: ladder_of(connection, row.variant, time_class)
        for control, time_class in others.items()
        if time_class != row.time_class
    }


_PAIRING_TABLE = Pairing.__table__
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
    pair: int = 0
    """What two games of one opening with the colours reversed share, from 1 on; 0 for none."""


class PlannedGames(Protocol):
    """A schedule, whose games may be made as they are read: there may be a million."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[PlannedGame]: ...


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
    games: Iterable[PlannedGame],
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
            "pair": game.pair,
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
        planned = Tournament.planned + len(games)
        change_row(connection, Tournament, tournament_id, planned=planned)
        rows = read_rows(PendingPairing, connection.execute(query))
    return rows


def enter(
    connection: Connection, tournament_id: TournamentId, games: Iterable[PlannedGame]
) -> None:
    """Enter who plays for the first time in a tournament that everyone may play in."""
    mine = Entrant.tournament_id == tournament_id
    lowest = connection.scalar(select(func.min(Entrant.seat)).where(mine)) or 0
    if lowest == 0 and connection.scalar(select(Entrant.seat).where(mine).limit(1)) is not None:
        return
    playing = {bot_id for game in games for bot_id in (game.black_id, game.white_id)}
    known = select(Entrant.bot_id).where(mine, Entrant.bot_id.in_(playing))
    new = sorted(playing - set(connection.scalars(known)))
    add_rows(
        connection,
        (
            Entrant(tournament_id=tournament_id, seat=lowest - place, bot_id=bot_id)
            for place, bot_id in enumerate(new, start=1)
        ),
    )


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

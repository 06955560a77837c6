"""Tournaments: made, loaded, listed and counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, case, delete, func, insert, select, update
from sqlalchemy.orm import Session, aliased

from meijin.game import TimeControl, Variant
from meijin.store.errors import UnknownTournamentError
from meijin.store.match_counts import GAMES_OF_A_PAIR
from meijin.store.openings import decode_openings, encode_openings
from meijin.store.prepared import Prepared
from meijin.store.rows import columns_of, read_rows
from meijin.store.schema import (
    GAME_IS_NOT_FINISHED,
    TOURNAMENT_IS_NOT_FINISHED,
    Bot,
    BotId,
    Entrant,
    FormatName,
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

MAX_VERDICT = 200
"""Characters kept."""

_IS_RUNNING = (Tournament.state == TournamentState.RUNNING, TOURNAMENT_IS_NOT_FINISHED)
_IS_IN_PLANNING = (Tournament.state == TournamentState.PLANNING, TOURNAMENT_IS_NOT_FINISHED)
_IS_MADE = Tournament.state != TournamentState.PLANNING
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
class NewTournament:
    """What a tournament is made of."""

    name: str
    format: FormatName
    rounds: int
    seed: int
    variant: Variant
    time_control: TimeControl
    max_games: int
    is_rated: bool
    bots: tuple[BotId, ...]
    schedule: Sequence[PlannedGame]
    """Empty for one whose games are stored later."""
    request_id: str | None
    openings: tuple[bytes, ...] = ()
    """Those it was given, two bytes a cell, little-endian; none when they are the server's own."""
    options: dict[str, Any] | None = None
    """The settings of the format's own; ``None`` for one that has none."""


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


@dataclass(frozen=True, slots=True)
class TournamentEnd:
    """The end of a tournament."""

    id: TournamentId
    time: datetime
    verdict: str = ""
    """Why it ended; where it says so, the pairs of games that have not begun are dropped."""


@dataclass(frozen=True, slots=True)
class TournamentRow:
    """A tournament and how far it is."""

    id: TournamentId
    name: str
    format: FormatName
    rounds: int
    seed: int
    variant: Variant
    time_control: TimeControl
    max_games: int
    ladder_id: LadderId | None
    ladder: str
    """The ladder's name; empty when unrated."""
    state: TournamentState
    create_time: datetime
    end_time: datetime | None
    bots: tuple[tuple[BotId, str], ...]
    """The entrants' ids and names, in the order of entry."""
    openings: tuple[bytes, ...]
    """Those it was given, two bytes a cell, little-endian."""
    options: dict[str, Any] | None
    """The settings of the format's own; ``None`` for one that has none."""
    verdict: str
    planned: int
    """Games that are planned by now."""
    finished: int
    running: int


def ladder_name(variant: Variant) -> str:
    """The ladder that the rated games of a variant count for."""
    return str(variant).replace(" ", "-")


def find_request(
    connection: Connection, request_id: str
) -> tuple[TournamentId, TournamentState] | None:
    """The tournament that a request has made already, if any, and where it stands."""
    query = select(Tournament.id, Tournament.state).where(Tournament.request_id == request_id)
    row = connection.execute(query).one_or_none()
    return row and (row.id, row.state)


def add_tournament(
    connection: Connection,
    new: NewTournament,
    now: datetime,
    state: TournamentState = TournamentState.RUNNING,
) -> TournamentId:
    """Store a tournament with its schedule."""
    with Session(connection) as session:
        tournament = Tournament(
            name=new.name,
            format=new.format,
            rounds=new.rounds,
            seed=new.seed,
            variant=new.variant,
            time_control=new.time_control,
            max_games=new.max_games,
            ladder_id=_ladder(session, ladder_name(new.variant)) if new.is_rated else None,
            create_time=now,
            request_id=new.request_id,
            openings=encode_openings(new.openings),
            options=new.options,
            state=state,
            planned=len(new.schedule),
        )
        session.add(tournament)
        session.flush()
        tournament_id = tournament.id
    entrants = [
        {"tournament_id": tournament_id, "seat": seat, "bot_id": bot_id}
        for seat, bot_id in enumerate(new.bots)
    ]
    if entrants:
        connection.execute(insert(Entrant), entrants)
    elif new.schedule:
        _enter(connection, tournament_id, new.schedule)
    _insert_pairings(connection, tournament_id, 1, new.schedule)
    return tournament_id


def _insert_pairings(
    connection: Connection, tournament_id: TournamentId, first: int, games: Sequence[PlannedGame]
) -> None:
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
        }
        for number, game in enumerate(games, start=first)
    ]
    if rows:
        _INSERT_PAIRING.execute(connection, rows)


def add_games(
    connection: Connection, tournament_id: TournamentId, first: int, games: Sequence[PlannedGame]
) -> None:
    """Store a part of a schedule, numbered from `first` on, of a tournament in planning.

    It does nothing where that is done: the commit may have happened and its answer been lost.
    """
    begun = update(Tournament).where(
        Tournament.id == tournament_id, Tournament.planned == first - 1
    )
    last = first - 1 + len(games)
    if connection.execute(begun.values(planned=last)).rowcount:
        _insert_pairings(connection, tournament_id, first, games)


def begin(connection: Connection, tournament_id: TournamentId) -> None:
    """Have a tournament played whose games are all stored."""
    planned = update(Tournament).where(
        Tournament.id == tournament_id, Tournament.state == TournamentState.PLANNING
    )
    connection.execute(planned.values(state=TournamentState.RUNNING))


def forget_requests_in_planning(connection: Connection) -> None:
    """Have the requests of tournaments in planning, which nobody completes, make them anew."""
    half_made = update(Tournament).where(*_IS_IN_PLANNING)
    connection.execute(half_made.values(request_id=None))


def drop_half_made(connection: Connection, *, limit: int) -> bool:
    """Delete at most so many games of tournaments in planning; tell whether there are more."""
    forget_requests_in_planning(connection)
    half_made = select(Tournament.id).where(*_IS_IN_PLANNING)
    tournament_id = connection.scalar(half_made.order_by(Tournament.id).limit(1))
    if tournament_id is None:
        return False
    mine = Tournament.id == tournament_id
    numbers = select(Pairing.number).where(Pairing.tournament_id == tournament_id)
    last = connection.scalar(numbers.order_by(Pairing.number).offset(limit - 1).limit(1))
    pairings = delete(Pairing).where(Pairing.tournament_id == tournament_id)
    connection.execute(pairings if last is None else pairings.where(Pairing.number <= last))
    if last is None:
        connection.execute(delete(Entrant).where(Entrant.tournament_id == tournament_id))
        connection.execute(delete(Tournament).where(mine))
    return True


def add_pairings(
    connection: Connection, tournament_id: TournamentId, first: int, games: Sequence[PlannedGame]
) -> Sequence[PendingPairing]:
    """Plan more games of a tournament, numbered from `first` on.

    When there are games from that number on already, they are what is returned: the commit may
    have happened and its answer been lost.
    """
    query = (
        select(*_PAIRING)
        .where(Pairing.tournament_id == tournament_id, Pairing.number >= first)
        .order_by(Pairing.number)
    )
    rows = read_rows(PendingPairing, connection.execute(query))
    if not rows:
        _insert_pairings(connection, tournament_id, first, games)
        _enter(connection, tournament_id, games)
        change = update(Tournament).where(Tournament.id == tournament_id)
        connection.execute(change.values(planned=Tournament.planned + len(games)))
        rows = read_rows(PendingPairing, connection.execute(query))
    return rows


def _enter(
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


def _ladder(session: Session, name: str) -> LadderId:
    found = session.scalar(select(Ladder).where(Ladder.name == name))
    if found is None:
        found = Ladder(name=name)
        session.add(found)
        session.flush()
    return found.id


class Load(NamedTuple):
    """What there is to be played, altogether."""

    tournaments: int
    """Those that are running."""
    games: int
    """Theirs that have no result."""


def load_of(connection: Connection) -> Load:
    """What there is to be played now."""
    left = func.sum(Tournament.planned - Tournament.finished)
    query = select(func.count(), left).where(*_IS_RUNNING)
    count, games = connection.execute(query).one()
    return Load(count, int(games or 0))


def running_tournaments(connection: Connection) -> Sequence[TournamentId]:
    """The tournaments to be played on, oldest first."""
    query = select(Tournament.id).where(*_IS_RUNNING)
    return connection.scalars(query.order_by(Tournament.id)).all()


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


_PAIRING = columns_of(PendingPairing, Pairing)


def get_state(connection: Connection, tournament_id: TournamentId) -> TournamentState:
    """Where a tournament stands.

    Raises:
        UnknownTournamentError: there is none of that id.
    """
    query = select(Tournament.state).where(Tournament.id == tournament_id, _IS_MADE)
    state = connection.scalar(query)
    if state is None:
        raise _unknown(tournament_id)
    return state


def set_state(connection: Connection, tournament_id: TournamentId, state: TournamentState) -> None:
    """Cancel a tournament or take it up again."""
    change = update(Tournament).where(Tournament.id == tournament_id)
    connection.execute(change.values(state=state))


def finish_tournament(connection: Connection, end: TournamentEnd) -> None:
    """Write the end of a tournament that is running, and drop what it has not begun.

    That is by pairs of games: of one that has begun the other game waits, and is played where a
    void takes the tournament up again.
    """
    change = update(Tournament).where(
        Tournament.id == end.id, Tournament.state == TournamentState.RUNNING
    )
    values = {
        "state": TournamentState.FINISHED,
        "end_time": end.time,
        "verdict": end.verdict[:MAX_VERDICT],
    }
    is_ended = connection.execute(change.values(values)).rowcount
    if is_ended and end.verdict:
        played = aliased(Pairing)
        begun = select((played.number + 1) // GAMES_OF_A_PAIR).join(
            Game, Game.pairing_id == played.id
        )
        dropped = delete(Pairing).where(
            Pairing.tournament_id == end.id,
            ((Pairing.number + 1) // GAMES_OF_A_PAIR).not_in(
                begun.where(Game.tournament_id == end.id)
            ),
        )
        count = connection.execute(dropped).rowcount
        mine = update(Tournament).where(Tournament.id == end.id)
        connection.execute(mine.values(planned=Tournament.planned - count))


def get_tournament(connection: Connection, tournament_id: TournamentId) -> TournamentRow:
    """One tournament.

    Raises:
        UnknownTournamentError: there is none of that id.
    """
    rows = _tournaments(connection, [tournament_id])
    if not rows:
        raise _unknown(tournament_id)
    return rows[0]


def _unknown(tournament_id: TournamentId) -> UnknownTournamentError:
    message = f"no tournament {tournament_id}; list the tournaments to see their ids"
    return UnknownTournamentError(message)


def list_tournaments(
    connection: Connection, *, limit: int, before: int | None = None
) -> Sequence[TournamentRow]:
    """Tournaments, newest first, from the one before the id `before`."""
    query = select(Tournament.id).where(_IS_MADE).order_by(Tournament.id.desc()).limit(limit)
    if before is not None:
        query = query.where(Tournament.id < before)
    return _tournaments(connection, connection.scalars(query).all())


def _tournaments(connection: Connection, ids: Sequence[TournamentId]) -> Sequence[TournamentRow]:
    bots = _entrants(connection, ids)
    query = (
        select(Tournament.__table__, Ladder.name.label("ladder"))
        .outerjoin(Ladder, Ladder.id == Tournament.ladder_id)
        .where(Tournament.id.in_(ids), _IS_MADE)
        .order_by(Tournament.id.desc())
    )
    return [
        TournamentRow(
            id=row.id,
            name=row.name,
            format=row.format,
            rounds=row.rounds,
            seed=row.seed,
            variant=row.variant,
            time_control=row.time_control,
            max_games=row.max_games,
            ladder_id=row.ladder_id,
            ladder=row.ladder or "",
            state=row.state,
            create_time=row.create_time,
            end_time=row.end_time,
            bots=tuple(bots[row.id]),
            openings=decode_openings(row.openings),
            options=row.options,
            verdict=row.verdict,
            planned=row.planned,
            finished=row.finished,
            running=row.running,
        )
        for row in connection.execute(query)
    ]


def entrants(connection: Connection, tournament_id: TournamentId) -> Sequence[BotId]:
    """Who was entered, in that order; none where everyone may play."""
    entered = (Entrant.tournament_id == tournament_id, Entrant.seat >= 0)
    query = select(Entrant.bot_id).where(*entered).order_by(Entrant.seat)
    return connection.scalars(query).all()


def _entrants(
    connection: Connection, ids: Sequence[TournamentId]
) -> dict[TournamentId, list[tuple[BotId, str]]]:
    """Who was entered in that order, or where everyone may play, who came, by name."""
    query = (
        select(Entrant.tournament_id, Bot.id, Bot.name)
        .join(Bot, Bot.id == Entrant.bot_id)
        .where(Entrant.tournament_id.in_(ids))
        .order_by(case((Entrant.seat >= 0, Entrant.seat), else_=0), Bot.name)
    )
    bots: dict[TournamentId, list[tuple[BotId, str]]] = {key: [] for key in ids}
    for tournament_id, bot_id, name in connection.execute(query):
        bots[tournament_id].append((bot_id, name))
    return bots

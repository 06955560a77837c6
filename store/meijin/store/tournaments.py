"""Tournaments: made, loaded, listed and counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, case, delete, func, insert, select, union, update
from sqlalchemy.orm import Session, aliased

from meijin.game import Party, TimeControl, Variant
from meijin.store.errors import UnknownTournamentError
from meijin.store.match_counts import GAMES_OF_A_PAIR, RESULT_PLACES
from meijin.store.openings import decode_openings, encode_openings
from meijin.store.rows import columns_of, read_rows
from meijin.store.schema import (
    Bot,
    BotId,
    BotVersion,
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
    schedule: tuple[PlannedGame, ...]
    """Empty for one whose games are planned as they are needed."""
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


@dataclass(frozen=True, slots=True)
class PairScore:
    """What one bot scored against another, both colours together."""

    bot_id: BotId
    opponent_id: BotId
    wins: int
    draws: int
    losses: int


def ladder_name(variant: Variant) -> str:
    """The ladder that the rated games of a variant count for."""
    return str(variant).replace(" ", "-")


def find_request(connection: Connection, request_id: str) -> TournamentId | None:
    """The tournament that a request has made already, if any."""
    return connection.scalar(select(Tournament.id).where(Tournament.request_id == request_id))


def add_tournament(connection: Connection, new: NewTournament, now: datetime) -> TournamentId:
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
        connection.execute(insert(Pairing), rows)


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
        rows = read_rows(PendingPairing, connection.execute(query))
    return rows


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


def running_tournaments(connection: Connection) -> Sequence[TournamentId]:
    """The tournaments to be played on, oldest first."""
    query = select(Tournament.id).where(Tournament.state == TournamentState.RUNNING)
    return connection.scalars(query.order_by(Tournament.id)).all()


def pending_pairings(
    connection: Connection, tournament_id: TournamentId
) -> Sequence[PendingPairing]:
    """A tournament's planned games without a result or a running game, in schedule order."""
    query = (
        select(*_PAIRING)
        .select_from(Pairing)
        .outerjoin(Game, (Game.pairing_id == Pairing.id) & (Game.state != GameState.VOID))
        .where(Pairing.tournament_id == tournament_id, Game.id.is_(None))
        .order_by(Pairing.number)
    )
    return read_rows(PendingPairing, connection.execute(query))


def running_pairings(connection: Connection) -> dict[PairingId, PendingPairing]:
    """The planned games that were being played when the last server ended."""
    query = (
        select(*_PAIRING)
        .select_from(Pairing)
        .join(Game, Game.pairing_id == Pairing.id)
        .where(Game.state == GameState.RUNNING)
    )
    return {row.id: row for row in read_rows(PendingPairing, connection.execute(query))}


_PAIRING = columns_of(PendingPairing, Pairing)


def get_state(connection: Connection, tournament_id: TournamentId) -> TournamentState:
    """Where a tournament stands.

    Raises:
        UnknownTournamentError: there is none of that id.
    """
    query = select(Tournament.state).where(Tournament.id == tournament_id)
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
        connection.execute(dropped)


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
    query = select(Tournament.id).order_by(Tournament.id.desc()).limit(limit)
    if before is not None:
        query = query.where(Tournament.id < before)
    return _tournaments(connection, connection.scalars(query).all())


def _tournaments(connection: Connection, ids: Sequence[TournamentId]) -> Sequence[TournamentRow]:
    planned = _planned_games(connection, ids)
    games = _games_by_state(connection, ids)
    bots = _entrants(connection, ids)
    query = (
        select(Tournament.__table__, Ladder.name.label("ladder"))
        .outerjoin(Ladder, Ladder.id == Tournament.ladder_id)
        .where(Tournament.id.in_(ids))
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
            planned=planned.get(row.id, 0),
            finished=games.get((row.id, GameState.FINISHED), 0),
            running=games.get((row.id, GameState.RUNNING), 0),
        )
        for row in connection.execute(query)
    ]


def _planned_games(connection: Connection, ids: Sequence[TournamentId]) -> dict[TournamentId, int]:
    query = (
        select(Pairing.tournament_id, func.count())
        .where(Pairing.tournament_id.in_(ids))
        .group_by(Pairing.tournament_id)
    )
    return {TournamentId(key): count for key, count in connection.execute(query)}


def _games_by_state(
    connection: Connection, ids: Sequence[TournamentId]
) -> dict[tuple[TournamentId, GameState], int]:
    query = (
        select(Game.tournament_id, Game.state, func.count())
        .where(Game.tournament_id.in_(ids))
        .group_by(Game.tournament_id, Game.state)
    )
    return {(TournamentId(key), state): count for key, state, count in connection.execute(query)}


def entrants(connection: Connection, tournament_id: TournamentId) -> Sequence[BotId]:
    """Who was entered, in that order; none where everyone may play."""
    query = select(Entrant.bot_id).where(Entrant.tournament_id == tournament_id)
    return connection.scalars(query.order_by(Entrant.seat)).all()


def _entrants(
    connection: Connection, ids: Sequence[TournamentId]
) -> dict[TournamentId, list[tuple[BotId, str]]]:
    """Who was entered, or where everyone may play, whose games were planned."""
    query = (
        select(Entrant.tournament_id, Bot.id, Bot.name)
        .join(Bot, Bot.id == Entrant.bot_id)
        .where(Entrant.tournament_id.in_(ids))
        .order_by(Entrant.seat)
    )
    bots: dict[TournamentId, list[tuple[BotId, str]]] = {key: [] for key in ids}
    for tournament_id, bot_id, name in connection.execute(query):
        bots[tournament_id].append((bot_id, name))
    return {key: bots[key] or _players(connection, key) for key in ids}


def _players(connection: Connection, tournament_id: TournamentId) -> list[tuple[BotId, str]]:
    black, white = (
        select(color).where(Pairing.tournament_id == tournament_id)
        for color in (Pairing.black_id, Pairing.white_id)
    )
    query = select(Bot.id, Bot.name).where(Bot.id.in_(union(black, white))).order_by(Bot.name)
    return [(bot_id, name) for bot_id, name in connection.execute(query)]


def crosstable(connection: Connection, tournament_id: TournamentId) -> Sequence[PairScore]:
    """What every bot scored against every other, both ways round."""
    black, white = aliased(BotVersion), aliased(BotVersion)
    query = (
        select(black.bot_id, white.bot_id, Game.result, func.count())
        .join(black, black.id == Game.black_id)
        .join(white, white.id == Game.white_id)
        .where(Game.tournament_id == tournament_id, Game.state == GameState.FINISHED)
        .group_by(black.bot_id, white.bot_id, Game.result)
    )
    counts: dict[tuple[BotId, BotId], list[int]] = {}
    for black_id, white_id, result, count in connection.execute(query):
        place = RESULT_PLACES[result]
        counts.setdefault((black_id, white_id), [0, 0, 0])[place] += count
        counts.setdefault((white_id, black_id), [0, 0, 0])[2 - place] += count
    return [PairScore(bot, other, *counts[bot, other]) for bot, other in sorted(counts)]


def fault_counts(connection: Connection, tournament_id: TournamentId) -> dict[BotId, int]:
    """How many games each bot of a tournament forfeited."""
    culprit = case((Game.at_fault == Party.BLACK, Game.black_id), else_=Game.white_id)
    query = (
        select(BotVersion.bot_id, func.count())
        .join(Game, BotVersion.id == culprit)
        .where(
            Game.tournament_id == tournament_id,
            Game.state == GameState.FINISHED,
            Game.at_fault.in_([Party.BLACK, Party.WHITE]),
        )
        .group_by(BotVersion.bot_id)
    )
    return {BotId(bot_id): count for bot_id, count in connection.execute(query)}

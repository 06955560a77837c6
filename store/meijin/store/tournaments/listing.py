"""Tournaments as they are shown, and who is entered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, case, select

from meijin.game import Adjudication, TimeControl, Variant
from meijin.store.schema import (
    TOURNAMENT_IS_NO_CHALLENGE,
    Bot,
    BotId,
    Entrant,
    FormatName,
    Ladder,
    LadderId,
    Tournament,
    TournamentId,
    TournamentState,
)
from meijin.store.tournaments.openings import decode_openings
from meijin.store.tournaments.sides import read_time_controls
from meijin.store.tournaments.states import IS_MADE, unknown_tournament


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
    time_controls: Mapping[BotId, TimeControl] = field(default_factory=dict)
    """Of every bot where they differ; empty where all have `time_control`."""
    adjudication: Adjudication | None = None
    """``None`` where games are played to their end."""
    max_faults: int = 0
    """It is cancelled when a bot has forfeited so many games; 0 for never."""


def get_tournament(connection: Connection, tournament_id: TournamentId) -> TournamentRow:
    """One tournament.

    Raises:
        UnknownTournamentError: there is none of that id.
    """
    rows = _tournaments(connection, [tournament_id])
    if not rows:
        raise unknown_tournament(tournament_id)
    return rows[0]


def list_tournaments(
    connection: Connection,
    *,
    limit: int,
    before: int | None = None,
    with_challenges: bool = False,
) -> Sequence[TournamentRow]:
    """Tournaments, newest first, from the one before the id `before`.

    Args:
        with_challenges: Those of challenges too.
    """
    query = select(Tournament.id).where(IS_MADE).order_by(Tournament.id.desc()).limit(limit)
    if not with_challenges:
        query = query.where(TOURNAMENT_IS_NO_CHALLENGE)
    if before is not None:
        query = query.where(Tournament.id < before)
    return _tournaments(connection, connection.scalars(query).all())


def _tournaments(connection: Connection, ids: Sequence[TournamentId]) -> Sequence[TournamentRow]:
    bots = _entrants(connection, ids)
    query = (
        select(Tournament.__table__, Ladder.name.label("ladder"))
        .outerjoin(Ladder, Ladder.id == Tournament.ladder_id)
        .where(Tournament.id.in_(ids), IS_MADE)
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
            time_controls=read_time_controls(row.time_controls),
            adjudication=row.adjudication,
            max_faults=row.max_faults,
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

"""Events: what happened after a position of a source, read from what is stored anyway."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, select
from sqlalchemy.orm import aliased

from meijin.store import games
from meijin.store.schema import (
    Bot,
    BotId,
    BotVersion,
    Entrant,
    EventSource,
    Fault,
    FaultKind,
    Game,
    GameId,
    Ladder,
    LadderId,
    OwnerId,
    RatingRun,
    Tournament,
    TournamentId,
    TournamentState,
    WebhookEvent,
)
from meijin.store.tournaments import states

SOURCES = {
    WebhookEvent.GAME_ENDED: EventSource.GAMES,
    WebhookEvent.TOURNAMENT_ENDED: EventSource.TOURNAMENTS,
    WebhookEvent.LADDER_PUBLISHED: EventSource.LADDERS,
    WebhookEvent.BOT_PAUSED: EventSource.FAULTS,
    WebhookEvent.FAULT_RECORDED: EventSource.FAULTS,
}
"""Where the events are read that a webhook can be told of."""


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """Something that happened, and whom it concerns."""

    event: WebhookEvent
    position: int
    """In its source."""
    subject_id: int
    """The game, tournament, run or fault."""
    time: datetime | None
    """``None`` where it is not stored: of a tournament that was cancelled."""
    bots: frozenset[BotId] = frozenset()
    owners: frozenset[OwnerId] = frozenset()
    """Of those bots."""
    tournament_id: TournamentId | None = None
    ladder_id: LadderId | None = None


def events_after(
    connection: Connection, source: EventSource, position: int, limit: int
) -> Sequence[StoredEvent]:
    """At most `limit` events of a source after a position, in its order; not those of ladders."""
    if source is EventSource.GAMES:
        return _ended_games(connection, position, limit)
    if source is EventSource.TOURNAMENTS:
        return _ended_tournaments(connection, position, limit)
    return _faults(connection, position, limit)


def published_runs(connection: Connection) -> Sequence[StoredEvent]:
    """The published run of every ladder."""
    query = select(Ladder.id, Ladder.run_id, RatingRun.create_time).join(
        RatingRun, RatingRun.id == Ladder.run_id
    )
    return [
        StoredEvent(
            WebhookEvent.LADDER_PUBLISHED, row.run_id, row.run_id, row.create_time, ladder_id=row.id
        )
        for row in connection.execute(query)
    ]


def last_position(connection: Connection, source: EventSource) -> int:
    """Of the newest event of a source; 0 without any. Not of ladders."""
    if source is EventSource.GAMES:
        return games.last_end(connection)
    if source is EventSource.TOURNAMENTS:
        return states.last_end(connection)
    return connection.scalar(select(func.max(Fault.id))) or 0


def _ladders(connection: Connection) -> list[LadderId | None]:
    """Every ladder, and none: games are in the order of their ends by ladder alone."""
    return [None, *connection.scalars(select(Ladder.id))]


def _ended_games(connection: Connection, position: int, limit: int) -> Sequence[StoredEvent]:
    found: list[tuple[int, GameId]] = []
    for ladder_id in _ladders(connection):
        query = select(Game.end_sequence, Game.id).where(
            Game.ladder_id == ladder_id, Game.end_sequence > position
        )
        # By the whole index: PostgreSQL sorts all games of no ladder else.
        rows = connection.execute(query.order_by(Game.ladder_id, Game.end_sequence).limit(limit))
        found += [(end or 0, game_id) for end, game_id in rows]
    first = sorted(found)[:limit]
    return _games(connection, [game_id for _, game_id in first]) if first else []


def _games(connection: Connection, game_ids: Collection[GameId]) -> Sequence[StoredEvent]:
    query = (
        select(
            Game.id,
            Game.end_sequence,
            Game.end_time,
            Game.tournament_id,
            Game.ladder_id,
            _BLACK.id.label("black"),
            _BLACK.owner_id.label("black_owner"),
            _WHITE.id.label("white"),
            _WHITE.owner_id.label("white_owner"),
        )
        .join(_BLACK_VERSION, _BLACK_VERSION.id == Game.black_id)
        .join(_BLACK, _BLACK.id == _BLACK_VERSION.bot_id)
        .join(_WHITE_VERSION, _WHITE_VERSION.id == Game.white_id)
        .join(_WHITE, _WHITE.id == _WHITE_VERSION.bot_id)
        .where(Game.id.in_(game_ids))
        .order_by(Game.end_sequence)
    )
    return [
        StoredEvent(
            WebhookEvent.GAME_ENDED,
            row.end_sequence,
            row.id,
            row.end_time,
            bots=frozenset((row.black, row.white)),
            owners=_owners((row.black_owner, row.white_owner)),
            tournament_id=row.tournament_id,
            ladder_id=row.ladder_id,
        )
        for row in connection.execute(query)
    ]


def _ended_tournaments(connection: Connection, position: int, limit: int) -> Sequence[StoredEvent]:
    """Those that are over; one that was taken up again is told of at its next end."""
    query = (
        select(Tournament.id, Tournament.end_sequence, Tournament.end_time, Tournament.ladder_id)
        .where(
            Tournament.end_sequence > position,
            Tournament.state.in_((TournamentState.FINISHED, TournamentState.CANCELLED)),
        )
        .order_by(Tournament.end_sequence)
        .limit(limit)
    )
    return [
        StoredEvent(
            WebhookEvent.TOURNAMENT_ENDED,
            row.end_sequence,
            row.id,
            row.end_time,
            **_entrants(connection, row.id),
            tournament_id=row.id,
            ladder_id=row.ladder_id,
        )
        for row in connection.execute(query).all()
    ]


def _entrants(connection: Connection, tournament_id: TournamentId) -> dict[str, Any]:
    """Whom a tournament concerns."""
    query = (
        select(Bot.id, Bot.owner_id)
        .join(Entrant, Entrant.bot_id == Bot.id)
        .where(Entrant.tournament_id == tournament_id)
    )
    rows = connection.execute(query).all()
    return {"bots": frozenset(bot for bot, _ in rows), "owners": _owners(of for _, of in rows)}


def _faults(connection: Connection, position: int, limit: int) -> Sequence[StoredEvent]:
    query = (
        select(
            Fault.id,
            Fault.kind,
            Fault.create_time,
            Bot.id.label("bot_id"),
            Bot.owner_id,
            Game.tournament_id,
            Game.ladder_id,
        )
        .outerjoin(BotVersion, BotVersion.id == Fault.version_id)
        .outerjoin(Bot, Bot.id == BotVersion.bot_id)
        .outerjoin(Game, Game.id == Fault.game_id)
        .where(Fault.id > position)
        .order_by(Fault.id)
        .limit(limit)
    )
    return [
        StoredEvent(
            WebhookEvent.BOT_PAUSED if row.kind is FaultKind.PAUSE else WebhookEvent.FAULT_RECORDED,
            row.id,
            row.id,
            row.create_time,
            bots=frozenset(() if row.bot_id is None else (row.bot_id,)),
            owners=_owners((row.owner_id,)),
            tournament_id=row.tournament_id,
            ladder_id=row.ladder_id,
        )
        for row in connection.execute(query)
    ]


def _owners(owners: Iterable[OwnerId | None]) -> frozenset[OwnerId]:
    return frozenset(owner for owner in owners if owner is not None)


_BLACK_VERSION, _WHITE_VERSION = aliased(BotVersion), aliased(BotVersion)
_BLACK, _WHITE = aliased(Bot), aliased(Bot)

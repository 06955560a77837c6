"""Events: what happened after a position of a source, read from what is stored anyway."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, func, null, select

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
    aliased,
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
    query = select(
        RatingRun.id,
        RatingRun.id.label("position"),
        RatingRun.create_time.label("time"),
        null().label("tournament_id"),
        Ladder.id.label("ladder_id"),
    ).join(Ladder, Ladder.run_id == RatingRun.id)
    return [_event(WebhookEvent.LADDER_PUBLISHED, row) for row in connection.execute(query)]


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
            Game.end_sequence.label("position"),
            Game.end_time.label("time"),
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
        _event(
            WebhookEvent.GAME_ENDED,
            row,
            (row.black, row.black_owner),
            (row.white, row.white_owner),
        )
        for row in connection.execute(query)
    ]


def _ended_tournaments(connection: Connection, position: int, limit: int) -> Sequence[StoredEvent]:
    """Those that are over; one that was taken up again is told of at its next end."""
    query = (
        select(
            Tournament.id,
            Tournament.end_sequence.label("position"),
            Tournament.end_time.label("time"),
            Tournament.id.label("tournament_id"),
            Tournament.ladder_id,
        )
        .where(
            Tournament.end_sequence > position,
            Tournament.state.in_((TournamentState.FINISHED, TournamentState.CANCELLED)),
        )
        .order_by(Tournament.end_sequence)
        .limit(limit)
    )
    return [
        _event(WebhookEvent.TOURNAMENT_ENDED, row, *_entrants(connection, row.id))
        for row in connection.execute(query).all()
    ]


def _entrants(
    connection: Connection, tournament_id: TournamentId
) -> Sequence[tuple[BotId, OwnerId | None]]:
    query = (
        select(Bot.id, Bot.owner_id)
        .join(Entrant, Entrant.bot_id == Bot.id)
        .where(Entrant.tournament_id == tournament_id)
    )
    return [(bot_id, owner_id) for bot_id, owner_id in connection.execute(query)]


def _faults(connection: Connection, position: int, limit: int) -> Sequence[StoredEvent]:
    query = (
        select(
            Fault.id,
            Fault.id.label("position"),
            Fault.kind,
            Fault.create_time.label("time"),
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
    kinds = {FaultKind.PAUSE: WebhookEvent.BOT_PAUSED}
    return [
        _event(kinds.get(row.kind, WebhookEvent.FAULT_RECORDED), row, (row.bot_id, row.owner_id))
        for row in connection.execute(query)
    ]


def _event(
    event: WebhookEvent, row: Row[*tuple[Any, ...]], *bots: tuple[BotId | None, OwnerId | None]
) -> StoredEvent:
    """What a row tells of, and the bots that it concerns, with the owners of those that have one."""
    return StoredEvent(
        event,
        row.position,
        row.id,
        row.time,
        frozenset(bot_id for bot_id, _ in bots if bot_id is not None),
        frozenset(owner_id for _, owner_id in bots if owner_id is not None),
        row.tournament_id,
        row.ladder_id,
    )


_BLACK_VERSION, _WHITE_VERSION = aliased(BotVersion), aliased(BotVersion)
_BLACK, _WHITE = aliased(Bot), aliased(Bot)

"""The games that are to be counted by their openings, in the order of their ends."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, LargeBinary, func, select

from meijin.game import Result, Variant
from meijin.game.board.moves import MOVE_BYTES
from meijin.store.rows import columns_of
from meijin.store.schema import (
    BotVersionId,
    Game,
    GameId,
    GameState,
    Ladder,
    LadderId,
    OpeningCursor,
    Rating,
    Tournament,
)

DEPTH = 12
"""Stones of the positions whose moves are counted, at most."""

NO_LADDER = LadderId(0)
"""Stands for the games of no ladder."""


class EndedGame(NamedTuple):
    """A game that has ended, with its first moves."""

    id: GameId
    ladder_id: LadderId | None
    end_sequence: int
    variant: Variant
    black_id: BotVersionId
    white_id: BotVersionId
    state: GameState
    is_repeat: bool
    result: Result
    moves: bytes
    """Two bytes a cell, little-endian: the first `DEPTH` + 1, or all of a shorter game."""

    @property
    def counts(self) -> bool:
        """Whether it has a result, and repeats no earlier game of its ladder."""
        is_rest = self.is_repeat or self.result is Result.NONE
        return self.state is GameState.FINISHED and not is_rest


def ladders_to_count(connection: Connection) -> Sequence[LadderId]:
    """Every ladder, and `NO_LADDER`."""
    return [NO_LADDER, *connection.scalars(select(Ladder.id).order_by(Ladder.id))]


def cursor_of(connection: Connection, ladder_id: LadderId) -> int:
    """The `end_sequence` of the last game of a ladder that was looked at; 0 before the first."""
    query = select(OpeningCursor.end_sequence).where(OpeningCursor.ladder_id == ladder_id)
    return connection.scalar(query) or 0


def ended_games(
    connection: Connection, ladder_id: LadderId, *, after: int, limit: int
) -> Sequence[EndedGame]:
    """The next games that have ended, whether they count or not; of a ladder, those in its log."""
    query = _GAMES.where(_of(ladder_id), Game.end_sequence > after)
    if ladder_id != NO_LADDER:
        last = select(Ladder.sequenced).where(Ladder.id == ladder_id).scalar_subquery()
        query = query.where(Game.end_sequence <= last)
    # By the whole index: PostgreSQL sorts all games of no ladder else.
    rows = connection.execute(query.order_by(Game.ladder_id, Game.end_sequence).limit(limit))
    return [EndedGame._make(row) for row in rows]


def ended_game(connection: Connection, game_id: GameId) -> EndedGame:
    """One of them."""
    return EndedGame._make(connection.execute(_GAMES.where(Game.id == game_id)).one())


def published_elo(
    connection: Connection, ladder_id: LadderId, versions: Sequence[BotVersionId]
) -> dict[BotVersionId, float]:
    """What the published run of a ladder rates some versions; others are missing."""
    query = (
        select(Rating.version_id, Rating.elo)
        .join(Ladder, Ladder.run_id == Rating.run_id)
        .where(Ladder.id == ladder_id, Rating.version_id.in_(versions))
    )
    return {row.version_id: row.elo for row in connection.execute(query)}


def _of(ladder_id: LadderId) -> ColumnElement[bool]:
    return Game.ladder_id.is_(None) if ladder_id == NO_LADDER else Game.ladder_id == ladder_id


_GAMES = select(
    *columns_of(
        EndedGame,
        Game,
        Tournament,
        # SQLite makes nothing of no bytes.
        moves=func.coalesce(
            func.substr(Game.moves, 1, MOVE_BYTES * (DEPTH + 1), type_=LargeBinary()), Game.moves
        ),
    )
).join(Tournament, Tournament.id == Game.tournament_id)

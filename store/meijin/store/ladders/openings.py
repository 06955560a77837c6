"""The opening counts: what was played in each position of the first moves, and how it ended.

Games are counted by their openings, in the order of their ends, and taken away again.
Whoever counts games of a ladder holds its cursor from before they are read until the commit. A game
that is voided in between waits to be looked at again, and so for the cursor.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    LargeBinary,
    Update,
    delete,
    func,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from meijin.game import Result, Variant
from meijin.game.board.moves import MOVE_BYTES
from meijin.store.database import Database
from meijin.store.games import last_unrated_end
from meijin.store.rows import add_rows, columns_of, read_row, read_rows
from meijin.store.schema import (
    BotVersionId,
    Game,
    GameId,
    GameState,
    Ladder,
    LadderId,
    OpeningCursor,
    OpeningGame,
    OpeningMove,
    OpeningRecheck,
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


class MoveCount(NamedTuple):
    """Games with a move in a position, in plain numbers: there are thousands a transaction."""

    position: int
    cell: int
    band: int
    black_wins: int
    draws: int
    white_wins: int
    game_id: GameId
    """The last of them."""


# -- games that are to be counted ----------------------------------------------------------


def ladders_to_count(connection: Connection) -> Sequence[LadderId]:
    """Where games have ended since the last one that was looked at; of a ladder, those in its log."""
    ends = dict(connection.execute(select(Ladder.id, Ladder.sequenced)).all())
    ends[NO_LADDER] = last_unrated_end(connection)
    query = select(OpeningCursor.ladder_id, OpeningCursor.end_sequence)
    cursors = dict(connection.execute(query).all())
    return sorted(key for key, end in ends.items() if end > cursors.get(key, 0))


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
    return EndedGame._make(connection.execute(_GAMES.where(Game.id == game_id)).one())


def add_rechecks(connection: Connection, game_ids: Iterable[GameId]) -> None:
    """Have some games looked at again."""
    add_rows(connection, (OpeningRecheck(game_id=game_id) for game_id in sorted(game_ids)))


def next_rechecks(connection: Connection, *, limit: int) -> Sequence[OpeningRecheck]:
    """The first games that are to be looked at again."""
    query = select(OpeningRecheck).order_by(OpeningRecheck.id).limit(limit)
    return read_rows(OpeningRecheck, connection.execute(query))


def take_recheck(connection: Connection, recheck: OpeningRecheck) -> bool:
    """Look at a game, unless somebody else did; tell whether it waited."""
    mine = delete(OpeningRecheck).where(OpeningRecheck.id == recheck.id)
    return bool(connection.execute(mine).rowcount)


# -- the counts ----------------------------------------------------------------------------


def hold_cursor(connection: Connection, ladder_id: LadderId) -> int:
    """Keep other workers from a ladder's counts.

    Returns:
        The `end_sequence` of the last game that was looked at; 0 before the first.
    """
    row = {"ladder_id": ladder_id, "end_sequence": 0, "games": 0}
    connection.execute(_insert(connection, OpeningCursor).on_conflict_do_nothing(), row)
    hold = _cursor(ladder_id).values(games=OpeningCursor.games)
    return connection.execute(hold.returning(OpeningCursor.end_sequence)).scalar_one()


def move_cursor(connection: Connection, ladder_id: LadderId, end_sequence: int) -> None:
    connection.execute(_cursor(ladder_id).values(end_sequence=end_sequence))


def counted_game(connection: Connection, game_id: GameId) -> OpeningGame | None:
    """How a game is counted; ``None`` where it is not."""
    query = select(OpeningGame).where(OpeningGame.game_id == game_id)
    return read_row(OpeningGame, connection.execute(query))


def add_games(
    connection: Connection,
    ladder_id: LadderId,
    games: Sequence[OpeningGame],
    moves: Sequence[MoveCount],
) -> None:
    """Count some games of a ladder whose cursor is held.

    Args:
        moves: Sorted by their key, so that neighbours of the table are written together.
    """
    if not games:
        return
    add_rows(connection, games)
    more = _insert(connection, OpeningMove)
    sums = {
        name: OpeningMove.__table__.c[name] + more.excluded[name]
        for name in ("black_wins", "draws", "white_wins")
    }
    upsert = more.on_conflict_do_update(
        index_elements=("position", "cell", "band"),
        set_={**sums, "game_id": more.excluded["game_id"]},
    )
    connection.execute(upsert, [each._asdict() for each in moves])
    connection.execute(_cursor(ladder_id).values(games=OpeningCursor.games + len(games)))


def take_away(
    connection: Connection, ladder_id: LadderId, game_id: GameId, moves: Iterable[MoveCount]
) -> None:
    """Take a game away, with the moves that it was counted by; rows without games go."""
    for each in moves:
        row = (
            OpeningMove.position == each.position,
            OpeningMove.cell == each.cell,
            OpeningMove.band == each.band,
        )
        less = {
            "black_wins": OpeningMove.black_wins - each.black_wins,
            "draws": OpeningMove.draws - each.draws,
            "white_wins": OpeningMove.white_wins - each.white_wins,
        }
        connection.execute(update(OpeningMove).where(*row).values(less))
        none = OpeningMove.black_wins + OpeningMove.draws + OpeningMove.white_wins <= 0
        connection.execute(delete(OpeningMove).where(*row, none))
    connection.execute(delete(OpeningGame).where(OpeningGame.game_id == game_id))
    connection.execute(_cursor(ladder_id).values(games=OpeningCursor.games - 1))


def forget_in(url: str) -> int:
    """Forget all counts of a database; tell how many games they were of.

    Raises:
        UnknownSchemaError: its tables are not those of this release.
    """
    with Database(url) as database:
        database.check_schema()
        return database.write(forget_counts)


def forget_counts(connection: Connection) -> int:
    """Forget all counts: the worker counts the games anew, by the ratings of now.

    Returns:
        How many games they were of.
    """
    games = counted_games(connection)
    for model in (OpeningMove, OpeningGame, OpeningCursor, OpeningRecheck):
        connection.execute(delete(model))
    return games


# -- a position's moves, read ----------------------------------------------------------------


def moves_in(connection: Connection, position: int) -> Sequence[OpeningMove]:
    """Every move that was played in a position, by its key; six rows a cell at most."""
    query = select(OpeningMove).where(OpeningMove.position == position)
    return read_rows(OpeningMove, connection.execute(query))


class VariantCount(NamedTuple):
    """How many games of a variant are counted."""

    variant: Variant
    games: int


def counted_variants(connection: Connection, *, limit: int) -> Sequence[VariantCount]:
    """The variants of ladders with counted games, most first."""
    games = func.sum(OpeningCursor.games)
    query = (
        select(*columns_of(VariantCount, Ladder, games=games))
        .join(OpeningCursor, OpeningCursor.ladder_id == Ladder.id)
        .group_by(Ladder.variant)
        .having(games > 0)
        .order_by(games.desc(), Ladder.variant)
        .limit(limit)
    )
    return [VariantCount(variant, int(games)) for variant, games in connection.execute(query)]


def counted_games(connection: Connection) -> int:
    return int(connection.scalar(select(func.sum(OpeningCursor.games))) or 0)


def _cursor(ladder_id: LadderId) -> Update:
    return update(OpeningCursor).where(OpeningCursor.ladder_id == ladder_id)


def _insert(connection: Connection, model: type[Any]) -> postgresql.Insert | sqlite.Insert:
    """An insertion that may meet a row of its key, which both databases know by one form."""
    if connection.dialect.name == "sqlite":
        return sqlite.insert(model)
    return postgresql.insert(model)


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

"""Games counted by their openings, added and taken away; each counts once, whoever counts it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from meijin.game import Result
from meijin.store.database import Database
from meijin.store.openings.explored import counted_games
from meijin.store.openings.games_to_count import NO_LADDER, EndedGame
from meijin.store.schema import (
    Game,
    GameId,
    GameState,
    LadderId,
    OpeningCursor,
    OpeningGame,
    OpeningMove,
    OpeningRecheck,
    StrengthBand,
)


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


class CountedGame(NamedTuple):
    """A game as it is counted."""

    id: GameId
    band: StrengthBand
    result: Result


@dataclass(frozen=True, slots=True)
class CountedGames:
    """The next games of a ladder, counted."""

    ladder_id: LadderId
    after: int
    """The cursor that they go on from."""
    cursor: int
    looked_at: int
    """How many games the cursor moves past."""
    games: Sequence[CountedGame]
    """Those that count."""
    moves: Sequence[MoveCount]
    """Sorted by their key, so that neighbours of the table are written together."""


class GamesChangedError(Exception):
    """A game was voided since it was counted, or somebody else has counted it: count anew."""


def add_counted(connection: Connection, counted: CountedGames) -> None:
    """Add games and move the cursor.

    Raises:
        GamesChangedError: nothing may be kept, so the transaction has to end.
    """
    _hold(connection, counted.ladder_id)
    move = update(OpeningCursor).where(
        OpeningCursor.ladder_id == counted.ladder_id,
        OpeningCursor.end_sequence == counted.after,
    )
    values = {
        "end_sequence": counted.cursor,
        "games": OpeningCursor.games + len(counted.games),
    }
    if not connection.execute(move.values(values)).rowcount:
        raise GamesChangedError
    wanted = [game.id for game in counted.games]
    still = select(Game.id).where(
        Game.id.in_(wanted), Game.state == GameState.FINISHED, Game.is_repeat.is_(False)
    )
    if len(connection.scalars(still).all()) != len(wanted):
        raise GamesChangedError
    _add(connection, counted)


def held_game(connection: Connection, game: EndedGame) -> tuple[bool, CountedGame | None]:
    """Hold the counts of a game's ladder; tell whether they are past it, and how it is counted.

    Returns:
        Whether the cursor is past the game, and what is counted; ``None`` where it is not.
    """
    ladder_id = game.ladder_id or NO_LADDER
    _hold(connection, ladder_id)
    query = select(OpeningCursor.end_sequence).where(OpeningCursor.ladder_id == ladder_id)
    is_past = connection.execute(query).scalar_one() >= game.end_sequence
    mine = select(OpeningGame.band, OpeningGame.result).where(OpeningGame.game_id == game.id)
    row = connection.execute(mine).one_or_none()
    if row is None:
        return is_past, None
    return is_past, CountedGame(game.id, StrengthBand(row.band), row.result)


def add_one(connection: Connection, ladder_id: LadderId, counted: CountedGames) -> None:
    """Add a game that the cursor is past."""
    _add(connection, counted)
    _change_games(connection, ladder_id, 1)


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
    _change_games(connection, ladder_id, -1)


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


def _hold(connection: Connection, ladder_id: LadderId) -> None:
    """Make a ladder's cursor if there is none, and keep other workers from it."""
    row = {"ladder_id": ladder_id, "end_sequence": 0, "games": 0}
    connection.execute(_insert(connection, OpeningCursor).on_conflict_do_nothing(), row)
    _change_games(connection, ladder_id, 0)


def _change_games(connection: Connection, ladder_id: LadderId, more: int) -> None:
    mine = update(OpeningCursor).where(OpeningCursor.ladder_id == ladder_id)
    connection.execute(mine.values(games=OpeningCursor.games + more))


def _add(connection: Connection, counted: CountedGames) -> None:
    if not counted.games:
        return
    games = [
        {"game_id": game.id, "band": game.band.value, "result": game.result}
        for game in counted.games
    ]
    connection.execute(_insert(connection, OpeningGame), games)
    more = _insert(connection, OpeningMove)
    sums = {
        name: OpeningMove.__table__.c[name] + more.excluded[name]
        for name in ("black_wins", "draws", "white_wins")
    }
    upsert = more.on_conflict_do_update(
        index_elements=("position", "cell", "band"),
        set_={**sums, "game_id": more.excluded["game_id"]},
    )
    connection.execute(upsert, [each._asdict() for each in counted.moves])


def _insert(connection: Connection, model: type[Any]) -> postgresql.Insert | sqlite.Insert:
    """An insertion that may meet a row of its key, which both databases know by one form."""
    if connection.dialect.name == "sqlite":
        return sqlite.insert(model)
    return postgresql.insert(model)

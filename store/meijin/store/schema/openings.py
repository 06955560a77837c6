"""The opening counts: what was played in each position of the first moves, and how it ended."""

import enum

from sqlalchemy import ForeignKey, SmallInteger

from meijin.game import Result
from meijin.store.schema.base import INT64, Field, Record, column
from meijin.store.schema.ids import GameId, LadderId

GAME_ENDED = -1
"""The cell of games that went no further."""


class StrengthBand(enum.IntEnum):
    """How strong the two of a game were: the mean of what their ladder's run rated them then."""

    UNRATED = 0
    """The game, or one of the two, had no rating."""
    BELOW_1200 = 1
    FROM_1200 = 2
    FROM_1400 = 3
    FROM_1600 = 4
    FROM_1800 = 5


class OpeningMove(Record, table="opening_move", sqlite_with_rowid=False):
    """What became of the games with a move in a position, by the strength of their players.

    A row a move and band, without row ids: four fifths of its bytes are needed by its key.
    """

    position: Field[int] = column(INT64, primary_key=True, autoincrement=False)
    """The key of the canonical position, which holds the variant too."""
    cell: Field[int] = column(SmallInteger, primary_key=True, autoincrement=False)
    """Of the canonical position; `GAME_ENDED` where none was played."""
    band: Field[int] = column(SmallInteger, primary_key=True, autoincrement=False)
    """A `StrengthBand`."""
    black_wins: Field[int]
    draws: Field[int]
    white_wins: Field[int]
    game_id: Field[GameId]
    """The game that was counted last; it may be void by now. No foreign key, which would need an
    index of millions of rows."""


class OpeningGame(Record, table="opening_game"):
    """A game that is counted: in which band, and with which result, whatever it has become."""

    game_id: Field[GameId] = column(ForeignKey("game.id"), primary_key=True, autoincrement=False)
    band: Field[int] = column(SmallInteger)
    """A `StrengthBand`."""
    result: Field[Result]


class OpeningCursor(Record, table="opening_cursor"):
    """How far a ladder's games are counted."""

    ladder_id: Field[LadderId] = column(primary_key=True, autoincrement=False)
    """0 for the games of no ladder, which is why it is no foreign key."""
    end_sequence: Field[int] = column(INT64)
    """Of the last game that was looked at."""
    games: Field[int] = column(INT64)
    """Those that are counted."""


class OpeningRecheck(Record, table="opening_recheck"):
    """A game that was voided, or that is rated since another was: it is to be looked at again."""

    id: Field[int] = column(INT64, primary_key=True, default=0)
    """One of its own, so that none is lost that comes while another of the game is seen to."""
    game_id: Field[GameId] = column(ForeignKey("game.id"))

"""A position's moves, as they are counted."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from meijin.store.rows import columns_of
from meijin.store.schema import GameId, OpeningCursor, OpeningMove, StrengthBand


class MoveCountRow(NamedTuple):
    """The games of one band with a move in a position."""

    cell: int
    """Of the canonical position; `GAME_ENDED` where none was played."""
    band: StrengthBand
    black_wins: int
    draws: int
    white_wins: int
    game_id: GameId
    """The last of them; it may be void by now."""


def moves_in(connection: Connection, position: int) -> Sequence[MoveCountRow]:
    """Every move that was played in a position, by its key; six rows a cell at most."""
    query = select(*columns_of(MoveCountRow, OpeningMove)).where(OpeningMove.position == position)
    return [
        MoveCountRow(cell, StrengthBand(band), *rest)
        for cell, band, *rest in connection.execute(query)
    ]


def counted_games(connection: Connection) -> int:
    """The games that are counted so far, of all variants."""
    return connection.scalar(select(func.coalesce(func.sum(OpeningCursor.games), 0))) or 0

"""A position's moves, as they are counted."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from meijin.game import Variant
from meijin.store.rows import columns_of
from meijin.store.schema import GameId, Ladder, OpeningCursor, OpeningMove, StrengthBand


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
    """The games that are counted so far, of all variants."""
    return int(connection.scalar(select(func.sum(OpeningCursor.games))) or 0)

"""Duplicate games, the same as an earlier one: a ladder rates the first of them alone.

Games are the same that have players, colours, opening, moves and end in common: a bot that runs
out of time does another thing than one that resigns on the same board. A game that ended before
anything was played after its opening repeats none. Its bots have decided nothing on the board,
and why it ended lies outside of it.
"""

import hashlib
import struct

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    and_,
    exists,
    func,
    literal_column,
    select,
)
from sqlalchemy.orm import aliased

from meijin.game.board.moves import MOVE_BYTES
from meijin.store.schema import BotVersionId, Game, GameId, GameState

_PLAYERS = struct.Struct("<QQH")
_MOVE_BYTES = literal_column(str(MOVE_BYTES), Integer)


def fingerprint(
    black_id: BotVersionId, white_id: BotVersionId, opening_plies: int, moves: bytes
) -> int:
    """A hash that equal games share, as a signed number of 64 bits; their ends are not in it."""
    players = _PLAYERS.pack(black_id, white_id, opening_plies)
    digest = hashlib.blake2b(players + moves, digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def repeats_an_earlier() -> ColumnElement[bool]:
    """That a finished game has all of an earlier one of its ladder in common."""
    earlier = aliased(Game)
    has_moves = func.length(Game.moves) > _MOVE_BYTES * Game.opening_plies
    return has_moves & exists(
        select(earlier.id).where(*_is_same(earlier, Game), earlier.end_sequence < Game.end_sequence)
    )


def first_repeat(connection: Connection, game_id: GameId) -> GameId | None:
    """The first that is marked as the same as a finished game of its ladder; ``None`` if none is.

    It is looked for behind the game, in the index of the fingerprints.
    """
    first, later = aliased(Game), aliased(Game)
    query = (
        select(later.id)
        .join_from(first, later, and_(*_is_same(later, first)))
        .where(
            first.id == game_id,
            later.end_sequence > first.end_sequence,
            later.is_repeat.is_(True),
        )
        .order_by(later.end_sequence)
        .limit(1)
    )
    return connection.scalar(query)


def _is_same(one: type[Game], other: type[Game]) -> tuple[ColumnElement[bool], ...]:
    """That one game is finished, and has all in common with another of its ladder."""
    return (
        one.state == GameState.FINISHED,
        *(getattr(one, name) == getattr(other, name) for name in _IN_COMMON),
    )


_IN_COMMON = (
    "ladder_id",
    "fingerprint",
    "black_id",
    "white_id",
    "opening_plies",
    "moves",
    "result",
    "ending",
    "at_fault",
)

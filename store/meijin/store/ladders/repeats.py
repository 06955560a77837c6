"""Duplicate games, the same as an earlier one: a ladder rates the first of them alone.

Games are the same that have players, colours, opening, moves and end in common: a bot that runs
out of time does another thing than one that resigns on the same board. A game that ended before
anything was played after its opening repeats none. Its bots have decided nothing on the board,
and why it ended lies outside of it.
"""

import hashlib
import struct
from collections.abc import Iterable

from sqlalchemy import (
    Connection,
    Integer,
    Update,
    bindparam,
    exists,
    func,
    literal_column,
    select,
    update,
)
from sqlalchemy.orm import aliased

from meijin.game.moves import MOVE_BYTES
from meijin.store.prepared import Prepared
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


def _marking() -> Update:
    """Mark finished games that have all of an earlier one in common."""
    earlier = aliased(Game)
    has_moves = func.length(Game.moves) > _MOVE_BYTES * Game.opening_plies
    is_repeat = has_moves & exists(
        select(earlier.id).where(
            earlier.ladder_id == Game.ladder_id,
            earlier.fingerprint == Game.fingerprint,
            earlier.state == bindparam("finished"),
            earlier.end_sequence < Game.end_sequence,
            earlier.black_id == Game.black_id,
            earlier.white_id == Game.white_id,
            earlier.opening_plies == Game.opening_plies,
            earlier.moves == Game.moves,
            earlier.result == Game.result,
            earlier.ending == Game.ending,
            earlier.at_fault == Game.at_fault,
        )
    )
    return update(Game).values(is_repeat=is_repeat).where(Game.state == bindparam("finished"))


_FINISHED = {"finished": GameState.FINISHED}
_MARK_GAME = Prepared(_marking().where(Game.id == bindparam("key")))


def mark_games(connection: Connection, game_ids: Iterable[GameId]) -> None:
    """Mark finished games, given in the order of their ends."""
    _MARK_GAME.execute(connection, [_FINISHED | {"key": game_id} for game_id in game_ids])


def mark_like(connection: Connection, game_id: GameId) -> None:
    """Mark anew all games with the fingerprint of one that does not count any more."""
    like = select(Game.ladder_id, Game.fingerprint).where(Game.id == game_id).subquery()
    same = (Game.ladder_id == like.c.ladder_id, Game.fingerprint == like.c.fingerprint)
    connection.execute(_marking().where(*same), _FINISHED)

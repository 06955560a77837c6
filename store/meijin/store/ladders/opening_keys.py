"""Opening keys: by which the games of one opening are known from those of others."""

import hashlib

from meijin.game.board.moves import MOVE_BYTES
from meijin.store.games import decode_choice


def opening_key(opening: bytes) -> int:
    """A hash that equal openings share, as a signed number of 64 bits.

    Args:
        opening: Two bytes a cell, little-endian; none for a game that begins on an empty board.
    """
    digest = hashlib.blake2b(opening, digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def settled_opening(moves: bytes, opening_plies: int, choice: bytes | None) -> bytes:
    """The first cells of a game's `moves`: its opening, or the stones that a side was chosen on.

    Args:
        moves: Two bytes a cell, little-endian.
        opening_plies: How many of them the game began with.
        choice: As it is stored; ``None`` where none was made.
    """
    plies = opening_plies if choice is None else decode_choice(choice)[0].ply
    return moves[: MOVE_BYTES * plies]

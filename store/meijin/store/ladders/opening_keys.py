"""Opening keys: by which the games of one opening are known from those of others."""

import hashlib


def opening_key(opening: bytes) -> int:
    """A hash that equal openings share, as a signed number of 64 bits.

    Args:
        opening: Two bytes a cell, little-endian; none for a game that begins on an empty board.
    """
    digest = hashlib.blake2b(opening, digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)

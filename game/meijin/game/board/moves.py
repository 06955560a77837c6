"""The wire form of a list of moves: two bytes per move, little-endian, unsigned."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from meijin.game.board.byte_order import little_endian

MOVE_BYTES = 2


def encode_moves(moves: Iterable[int]) -> bytes:
    """The wire form of `moves`, cells in the order played.

    Raises:
        OverflowError: a cell fits in no two bytes.
    """
    cells = moves if type(moves) is array and moves.typecode == "H" else array("H", moves)
    return little_endian(cells).tobytes()


def decode_moves(data: bytes) -> array[int]:
    """The cells, in the order played, that `data` is the wire form of.

    Raises:
        ValueError: the number of bytes is odd.
    """
    if len(data) % MOVE_BYTES:
        raise ValueError(f"{len(data)} bytes are no list of moves: a move takes {MOVE_BYTES}")
    return little_endian(array("H", data))

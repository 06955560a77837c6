"""The wire form of a list of moves: two bytes per move, little-endian, unsigned."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable

_SWAP = sys.byteorder == "big"


def little_endian(numbers: array[int]) -> array[int]:
    """The array with its bytes in little-endian order, or such an array in the machine's own.

    On a little-endian machine that is `numbers` itself, on another one a copy.
    """
    if _SWAP:
        numbers = numbers[:]
        numbers.byteswap()
    return numbers


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

"""A tournament's openings in one column."""

import struct
from collections.abc import Iterable, Iterator

_LENGTH = struct.Struct("<H")
_CELL = 2
"""Bytes."""


def encode_openings(openings: Iterable[bytes]) -> bytes:
    """Openings of two bytes a cell, one after the other, each behind its length in plies."""
    return b"".join(_LENGTH.pack(len(opening) // _CELL) + opening for opening in openings)


def decode_openings(data: bytes) -> tuple[bytes, ...]:
    """The inverse of `encode_openings`."""
    return tuple(_read(data))


def _read(data: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(data):
        (plies,) = _LENGTH.unpack_from(data, start)
        start += _LENGTH.size
        yield data[start : start + _CELL * plies]
        start += _CELL * plies

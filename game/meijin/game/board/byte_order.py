"""Byte order: arrays are kept and sent little-endian, whatever the machine's own order is."""

import sys
from array import array

_SWAP = sys.byteorder == "big"


def little_endian(numbers: "array[int]") -> "array[int]":
    """The array with its bytes in little-endian order, or such an array in the machine's own.

    On a little-endian machine that is `numbers` itself, on another one a copy.
    """
    if _SWAP:
        numbers = numbers[:]
        numbers.byteswap()
    return numbers

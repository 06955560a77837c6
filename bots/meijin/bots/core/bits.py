"""Bits of masks."""

from __future__ import annotations

import numpy as np

from meijin.bots.core.jit import int64, jit

_PRIME = 37
_BITS = np.zeros(_PRIME, np.int64)
_BITS[[(1 << bit) % _PRIME for bit in range(32)]] = range(32)


@jit(int64(int64))
def lowest_bit(mask: int) -> int:
    """The number of the lowest bit of a mask of 32 bits, not 0."""
    return _BITS[(mask & -mask) % _PRIME]

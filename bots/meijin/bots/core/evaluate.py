"""What a position is worth, before any search."""

from __future__ import annotations

import numpy as np

from meijin.bots.core.jit import int64, jit, uint64
from meijin.bots.core.lookup import TABLES_TYPE
from meijin.bots.core.network import value
from meijin.bots.core.state import STATE_TYPE, VALUES

WIN_SCORE = 30_000
"""The score of a win, less a point for each ply up to it."""
PROVEN = 29_000
"""Scores from here on are wins, and losses below its negative."""
MOST = 20_000
"""The most that a position without a proof is worth."""

_NOISE_SHIFT = uint64(40)
_LOW = uint64(VALUES - 1)


@jit(int64(STATE_TYPE, TABLES_TYPE))
def known_value(state: np.record, tables: np.record) -> int:
    """The network's value, from memory where the position was valued before."""
    key = state.hash ^ tables.turn[state.side]
    slot = int64(key & _LOW)
    known = state.values[slot]
    if (known ^ key) & ~_LOW == uint64(0):
        return int64(np.int16(known & _LOW))
    found = min(MOST, max(-MOST, value(state, tables)))
    state.values[slot] = (key & ~_LOW) | (uint64(found) & _LOW)
    return found


@jit(int64(STATE_TYPE, TABLES_TYPE))
def evaluate(state: np.record, tables: np.record) -> int:
    """Score the position for the side to move."""
    score = known_value(state, tables)
    if state.noise > 0:
        score += int64(state.hash >> _NOISE_SHIFT) % (2 * state.noise + 1) - state.noise
    return score

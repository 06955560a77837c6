"""Static evaluation: what a position is worth, before any search."""

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
MAX_EVAL = 20_000
"""The highest static evaluation."""

_NOISE_SHIFT = uint64(40)
_LOW = uint64(VALUES - 1)


@jit(int64(STATE_TYPE, TABLES_TYPE))
def cached_value(state: np.record, tables: np.record) -> int:
    """The network's value, from the cache where the position was evaluated before."""
    key = state.hash ^ tables.turn[state.side]
    slot = int64(key & _LOW)
    known = state.values[slot]
    if (known ^ key) & ~_LOW == uint64(0):
        return int64(np.int16(known & _LOW))
    found = min(MAX_EVAL, max(-MAX_EVAL, value(state, tables)))
    state.values[slot] = (key & ~_LOW) | (uint64(found) & _LOW)
    return found


@jit(int64(STATE_TYPE, TABLES_TYPE))
def evaluate(state: np.record, tables: np.record) -> int:
    """The static evaluation for the side to move."""
    score = cached_value(state, tables)
    if state.noise > 0:
        score += int64(state.hash >> _NOISE_SHIFT) % (2 * state.noise + 1) - state.noise
    return score

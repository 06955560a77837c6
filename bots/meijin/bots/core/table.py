"""The transposition table: what is known of positions met before."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from meijin.bots.core.evaluate import PROVEN
from meijin.bots.core.jit import int64, jit, record_type, uint64, void

LOWER, UPPER = 1, 2
"""What a score bounds; an exact one does both."""
EXACT = LOWER | UPPER
CLUSTER = 4
"""Entries that a position may use: a line of the processor's cache."""
AGE_WEIGHT = 4
"""Plies of depth that an entry loses for each search since it was written."""

ENTRY = np.dtype(
    [
        ("key", np.uint64),
        ("score", np.int16),  # a proven one counts from this position
        ("move", np.int16),  # -1 if none is known
        ("depth", np.int8),  # plies
        ("bound", np.uint8),
        ("age", np.uint16),  # the number of the search
    ],
    align=True,
)
ENTRY_TYPE = record_type(ENTRY)
TABLE_TYPE = ENTRY_TYPE[::1]

Table: TypeAlias = "np.recarray[Any, np.dtype[Any]]"
Entries: TypeAlias = NDArray[np.void]


def new_table(bits: int) -> Table:
    """Make an empty table of 2 ** `bits` entries, 16 bytes each."""
    return np.zeros(1 << bits, ENTRY).view(np.recarray)


@jit(int64(TABLE_TYPE, uint64))
def first_of(table: Table, key: int) -> int:
    """The first of the entries that a position may use."""
    return int64(key & uint64(len(table) - CLUSTER))


@jit(int64(TABLE_TYPE, uint64))
def find(table: Table, key: int) -> int:
    """The entry of a position, or -1."""
    first = first_of(table, key)
    for at in range(first, first + CLUSTER):
        if table[at].key == key and table[at].bound != 0:
            return at
    return -1


@jit(int64(int64, int64))
def from_here(score: int, ply: int) -> int:
    """Turn a score counted from the root into one counted from `ply`."""
    if score >= PROVEN:
        return score + ply
    if score <= -PROVEN:
        return score - ply
    return score


@jit(int64(int64, int64))
def from_root(score: int, ply: int) -> int:
    """Turn a score counted from `ply` into one counted from the root."""
    if score >= PROVEN:
        return score - ply
    if score <= -PROVEN:
        return score + ply
    return score


@jit(void(TABLE_TYPE, uint64, int64, int64, int64, int64, int64))
def store(table: Table, key: int, age: int, score: int, move: int, depth: int, bound: int) -> None:
    """Keep what was found, in place of the position's own entry or the least useful one."""
    first = first_of(table, key)
    victim, least = first, 1 << 20
    for at in range(first, first + CLUSTER):
        entry = table[at]
        if entry.key == key:
            victim = at
            break
        use = int64(entry.depth) - AGE_WEIGHT * (age - int64(entry.age))
        if entry.bound == 0:
            use = -(1 << 20)
        if use < least:
            victim, least = at, use
    entry = table[victim]
    if move >= 0 or entry.key != key:
        entry.move = move
    entry.key = key
    entry.score = score
    entry.depth = depth
    entry.bound = bound
    entry.age = age

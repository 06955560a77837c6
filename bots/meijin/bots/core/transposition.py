"""The transposition table: results of positions searched before."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from meijin.bots.core.jit import int64, jit, record_type, uint64, void
from meijin.game.records.chances import PROVEN_SCORE

LOWER, UPPER = 1, 2
"""The bound that a score is; an exact one is both."""
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
def cluster_start(table: Table, key: int) -> int:
    """The first entry of the cluster that a position may use."""
    return int64(key & uint64(len(table) - CLUSTER))


@jit(int64(TABLE_TYPE, uint64))
def probe(table: Table, key: int) -> int:
    """Probe the table: the place of a position's entry, or -1."""
    first = cluster_start(table, key)
    for at in range(first, first + CLUSTER):
        if table[at].key == key and table[at].bound != 0:
            return at
    return -1


@jit(int64(int64, int64))
def count_from(score: int, ply: int) -> int:
    """A score counted from the position `ply` plies on: the root's as the table has it.

    With the negative of it, the table's as the root has it.
    """
    if score >= PROVEN_SCORE:
        return score + ply
    if score <= -PROVEN_SCORE:
        return score - ply
    return score


@jit(void(TABLE_TYPE, uint64, int64, int64, int64, int64, int64))
def store(table: Table, key: int, age: int, score: int, move: int, depth: int, bound: int) -> None:
    """Store a result, in place of the position's own entry or the least useful one."""
    first = cluster_start(table, key)
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

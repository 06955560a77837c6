"""Pair counts: games counted by who met whom, and on which opening where that is known."""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

MOST_COUNTED = 1_000_000
"""The largest number that is found among others by counting them all."""

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Masked: TypeAlias = "np.ma.MaskedArray[Any, Any]"


@dataclass(frozen=True, slots=True, eq=False)
class PairCounts:
    """Columns of one length; a pair may stand in any number of rows.

    The counts are floats, exact up to 2^53, since a prior may be told as fractions of games.
    """

    first: Integers
    """Who moved first; any integers name the players."""
    second: Integers
    wins: Floats
    """Games that `first` won."""
    draws: Floats
    losses: Floats
    """Games that `second` won."""
    openings: Integers | None = None
    """What the games of each row began with, by any integers; ``None`` where nobody tells."""

    @property
    def games(self) -> int:
        return round(float(self.wins.sum() + self.draws.sum() + self.losses.sum()))

    @property
    def players(self) -> Integers:
        """Everyone in it, ascending; shape (n,)."""
        return distinct(np.concatenate((distinct(self.first), distinct(self.second))))

    def places(self, players: Integers) -> tuple[Integers, Integers]:
        """Of who moved first and of who moved second, row by row, in the sorted `players`."""
        return places_in(players, self.first), places_in(players, self.second)

    def at(self, rows: Integers | Mask) -> Self:
        """Some of the rows."""
        columns = {each.name: getattr(self, each.name) for each in fields(self)}
        return replace(self, **{n: c[rows] for n, c in columns.items() if c is not None})

    def merged(self) -> Self:
        """The same games, one row a pair and opening, sorted by `first`, `second`, `openings`."""
        players, indexed = self.indexed()
        return replace(indexed, first=players[indexed.first], second=players[indexed.second])

    def pooled(self) -> Self:
        """The same games with one row a pair, whatever they began with."""
        return replace(self, openings=None).merged()

    def indexed(self) -> tuple[Integers, Self]:
        """The players, and the merged games with each player indexed by its place among them."""
        players = self.players
        first, second = self.places(players)
        keys = first * len(players) + second
        if self.openings is not None:
            openings = distinct(self.openings)
            keys = keys * len(openings) + places_in(openings, self.openings)
        steps = np.diff(keys)
        if (steps > 0).all():
            return players, replace(self, first=first, second=second)
        if (steps >= 0).all():
            places = np.concatenate(([0], np.cumsum(steps > 0))).astype(np.int64)
            rows = keys[np.concatenate(([True], steps > 0))]
        else:
            rows, places = numbered(keys)
        wins, draws, losses = (
            sums(places, column, len(rows)) for column in (self.wins, self.draws, self.losses)
        )
        began = None
        if self.openings is not None:
            rows, opening = np.divmod(rows, len(openings))
            began = openings[opening]
        first, second = np.divmod(rows, len(players))
        return players, type(self)(first, second, wins, draws, losses, began)

    def joined(self, *others: Self) -> Self:
        """These games and others; what they began with is known where all tell."""
        parts = (self, *others)
        has_openings = all(each.openings is not None for each in parts)
        names = (each.name for each in fields(self) if has_openings or each.name != "openings")
        return type(self)(*(np.concatenate([getattr(each, n) for each in parts]) for n in names))


_NOBODY, _NOTHING = np.empty(0, dtype=np.int64), np.empty(0)
NO_COUNTS = PairCounts(_NOBODY, _NOBODY, _NOTHING, _NOTHING, _NOTHING, _NOBODY)
"""No games, whose openings are known."""


def distinct(column: Integers) -> Integers:
    """The different numbers of a column, ascending.

    Of a million small ones, counting takes 2 ms where `np.unique` takes 50.
    """
    if _is_countable(column):
        return np.flatnonzero(np.bincount(column))
    ordered = np.sort(column)
    is_first = np.ones(len(ordered), dtype=np.bool_)
    is_first[1:] = ordered[1:] != ordered[:-1]  # a difference of two keys may overflow
    return ordered[is_first]


def places_in(numbers: Integers, column: Integers) -> Integers:
    """Where each of a column stands in some sorted numbers, which have them all; shape as the column.

    Of a million small ones, looking them up takes 1 ms where a binary search takes 20.
    """
    if not _is_countable(numbers):
        return np.searchsorted(numbers, column)
    table = np.empty(int(numbers[-1]) + 1, dtype=np.int64)
    table[numbers] = np.arange(len(numbers))
    return table[column]


def numbered(column: Integers) -> tuple[Integers, Integers]:
    """The different numbers of a column, ascending, and where each of it stands among them."""
    if not _is_countable(column):
        return np.unique(column, return_inverse=True)
    numbers = distinct(column)
    return numbers, places_in(numbers, column)


def _is_countable(column: Integers) -> bool:
    """Whether a table by number is no larger than it may be."""
    return bool(column.size and column.min() >= 0 and column.max() <= MOST_COUNTED)


def sums(places: Integers, column: Floats, size: int) -> Floats:
    """The sum of the rows at each of the places 0, 1, ...; shape (size,)."""
    return np.bincount(places, column, size).astype(np.float64, copy=False)


def connected_components(first: Integers, second: Integers, players: int) -> Integers:
    """The connected component of each of the players 0, 1, ...: its smallest member.

    Games connect. Everyone takes the smallest label across each game and then the label of its
    label, so the length of a path halves each time; shape (players,). Scipy's function takes twice
    as long, most of it to make its matrix: 19 against 10 ms for 1,000 players who all met.
    """
    labels = np.arange(players)
    while True:
        smaller = labels.copy()
        np.minimum.at(smaller, first, labels[second])
        np.minimum.at(smaller, second, labels[first])
        smaller = smaller[smaller]
        if (smaller == labels).all():
            return labels
        labels = smaller


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Games by unit: what two have played on one opening, whoever moved first.

    Units of the same two with the same results stand once.
    """

    counts: PairCounts
    """One row for each colour that was played, those of a unit together; players 0, 1, ..."""
    starts: Integers
    """The first row of each unit; shape (units,)."""
    times: Floats
    """How many there are of each; shape (units,)."""

    @classmethod
    def of_rows(cls, counts: PairCounts) -> Self:
        """With each row as a unit of its own."""
        rows = len(counts.first)
        return cls(counts, np.arange(rows), np.ones(rows))

    @property
    def signs(self) -> Floats:
        """1 where the unit's first moves first, and -1 elsewhere; row by row, or one for all."""
        if self._are_rows:
            return np.ones(1)
        first = self.counts.first
        return np.where(first == np.repeat(first[self.starts], self._lengths), 1.0, -1.0)

    @property
    def row_times(self) -> Floats:
        return self.times if self._are_rows else np.repeat(self.times, self._lengths)

    def added_up(self, column: Floats) -> Floats:
        """The sums of a column of rows over each unit; shape (rows,)."""
        return column if self._are_rows else np.add.reduceat(column, self.starts)

    def merged(self, pairs: Integers) -> Self:
        """With likes once; where a count is too large to be compared by, as they are.

        Args:
            pairs: Whose each unit is; the rows of each are in the order of the two; shape (units,).
        """
        counts = self.counts
        results = np.array((counts.wins, counts.draws, counts.losses))
        if results.max(initial=0.0) >= PACKED:
            return self
        packed = (PACKED**2, PACKED, 1) @ results
        packed[counts.first < counts.second] *= PACKED**3
        keys = pairs * PACKED**6 + self.added_up(packed).astype(np.int64)
        order = np.argsort(keys)
        likes = np.flatnonzero(np.diff(keys[order], prepend=-1))
        kept = order[likes]
        lengths = self._lengths[kept]
        starts = np.cumsum(lengths) - lengths
        chosen = np.arange(lengths.sum()) + np.repeat(self.starts[kept] - starts, lengths)
        times = np.diff(likes, append=len(keys)).astype(np.float64)
        return type(self)(counts.at(chosen), starts, times)

    @property
    def _lengths(self) -> Integers:
        """How many rows each unit has; shape (units,)."""
        return np.diff(self.starts, append=len(self.counts.first))

    @property
    def _are_rows(self) -> bool:
        return len(self.starts) == len(self.counts.first)


PACKED = 16
"""Counts of equal results in a unit are below it where units are compared."""


@dataclass(frozen=True, eq=False)
class GroupedCounts:
    """The games of a fit, and how they are grouped in it: made once for several fits."""

    players: Integers
    """Ascending; shape (n,)."""
    counts: PairCounts
    """Merged, with each player named by its place."""

    @classmethod
    def of(cls, counts: PairCounts) -> "GroupedCounts":
        return cls(*counts.indexed())

    @cached_property
    def pairs(self) -> PairCounts:
        return self.counts if self.counts.openings is None else self.counts.pooled()

    @cached_property
    def has_openings(self) -> bool:
        """Whether games are known to have begun with several."""
        return self.counts.openings is not None and len(distinct(self.counts.openings)) > 1

    def sample(self, most: int) -> "GroupedCounts":
        """About this many rows of them, or all, with both colours of a unit or none; of all players."""
        counts, share = self.counts, max(len(self.counts.first) // most, 1)
        assert counts.openings is not None
        chosen = (counts.first + counts.second + counts.openings) % share == 0
        return GroupedCounts(self.players, counts.at(chosen))

    @cached_property
    def units(self) -> Units:
        """By opening; where there are not several, each row is a unit."""
        counts, players = self.counts, max(len(self.players), 1)
        if counts.openings is None or not self.has_openings:
            return Units.of_rows(counts)
        openings, turned = distinct(counts.openings), counts.first > counts.second
        pair = np.minimum(counts.first, counts.second) * players
        pair += np.maximum(counts.first, counts.second)
        unit = pair * len(openings) + places_in(openings, counts.openings)
        order = np.argsort(2 * unit + turned)
        starts = np.flatnonzero(np.diff(unit[order], prepend=-1))
        rows = replace(counts.at(order), openings=None)
        return Units(rows, starts, np.ones(len(starts))).merged(pair[order][starts])

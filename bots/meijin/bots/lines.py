"""A position seen as lines: who can still win where, and how near each side is to it."""

from __future__ import annotations

from copy import copy
from itertools import pairwise
from typing import Self

from meijin.bots.geometry import geometry_of
from meijin.game import STANDARD, Board, Color

_BLACK = int(Color.BLACK)
_BOTH = Color.BLACK + Color.WHITE
_GROWTH = 6
_FAR = 4


class Lines:
    """Counts each side's stones on every line, kept up to date as stones come and go.

    Sides are the plain values of `Color`, and the counts lie in byte arrays: this is the
    inner loop of the searches, and `bytearray.find` looks for a threat in under 1 us.
    """

    __slots__ = ("_counts", "_exact", "_gain", "_worth", "balance", "empty", "geometry", "stones")

    def __init__(self, board: Board) -> None:
        variant = board.variant
        self.geometry = geometry_of(variant)
        self.stones = bytearray(variant.cells)
        """By cell: 0 for empty, else the side."""
        self.empty = variant.cells
        """The number of empty cells."""
        self.balance = 0
        """What the lines are worth that black has alone, less those that white has alone."""
        lines = len(self.geometry.lines)
        self._counts = (bytearray(), bytearray(lines), bytearray(lines))  # by side, then line
        self._exact = variant.rule == STANDARD
        self._worth = worth_by_count(variant.line)
        self._gain = tuple(after - before for before, after in pairwise(self._worth))
        for cell in range(variant.cells):
            if color := board.stone(cell):
                self.place(cell, color)

    def copy(self) -> Self:
        """Lines of their own under the same stones."""
        twin = copy(self)
        twin.stones = self.stones[:]
        none, black, white = self._counts
        twin._counts = (none, black[:], white[:])  # noqa: SLF001 - a twin is no stranger
        return twin

    def place(self, cell: int, side: int) -> None:
        """Put a stone of `side` on an empty cell."""
        mine, theirs = self._counts[side], self._counts[_BOTH - side]
        gain, worth = self._gain, self._worth
        change = 0
        for line in self.geometry.through[cell]:
            count = mine[line]
            mine[line] = count + 1
            if not theirs[line]:
                change += gain[count]
            elif not count:
                change += worth[theirs[line]]
        self.balance += change if side == _BLACK else -change
        self.stones[cell] = side
        self.empty -= 1

    def remove(self, cell: int, side: int) -> None:
        """Take a stone of `side` away."""
        mine, theirs = self._counts[side], self._counts[_BOTH - side]
        gain, worth = self._gain, self._worth
        change = 0
        for line in self.geometry.through[cell]:
            count = mine[line] - 1
            mine[line] = count
            if not theirs[line]:
                change += gain[count]
            elif not count:
                change += worth[theirs[line]]
        self.balance -= change if side == _BLACK else -change
        self.stones[cell] = 0
        self.empty += 1

    def completing(self, side: int) -> list[int]:
        """List the empty cells on which `side` wins at once."""
        mine, theirs = self._counts[side], self._counts[_BOTH - side]
        lines = self.geometry.lines
        one_short = len(lines[0]) - 1
        cells: list[int] = []
        line = mine.find(one_short)
        while line >= 0:
            if not theirs[line] and not self._is_overline(line, side):
                cells.extend(cell for cell in lines[line] if not self.stones[cell])
            line = mine.find(one_short, line + 1)
        return cells

    def _is_overline(self, line: int, side: int) -> bool:
        """Whether the full line would be part of a longer row, and that wins nothing."""
        return self._exact and any(self.stones[end] == side for end in self.geometry.ends[line])

    def promising(self, count: int) -> list[int]:
        """At most `count` empty cells near the stones, the most valuable first.

        Without a stone the centre is the only one; with none near, any empty cell will do.
        """
        stones = self.stones
        if self.empty == len(stones):
            return [self.geometry.centre]
        near = self.geometry.near
        touched = {cell for at, side in enumerate(stones) if side for cell in near[at]}
        cells = [cell for cell in sorted(touched) if not stones[cell]]
        if not cells:
            cells = [cell for cell, side in enumerate(stones) if not side]
        return sorted(cells, key=self.value, reverse=True)[:count]

    def value(self, cell: int) -> int:
        """How much a stone on an empty cell changes, whoever's it is."""
        _, black, white = self._counts
        gain = self._gain
        total = 0
        for line in self.geometry.through[cell]:
            if not white[line]:
                total += gain[black[line]]
            elif not black[line]:
                total += gain[white[line]]
        return total


def worth_by_count(line: int) -> tuple[int, ...]:
    """Say what a line is worth to the side that has it alone, by its stones.

    A stone more is worth six times as much; more than four stones from the end, nothing is.
    """
    return (0, *(_GROWTH ** max(0, _FAR - line + count) for count in range(1, line + 1)))

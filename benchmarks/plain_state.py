"""The core's position in plain Python: lists and integers, no arrays.

It does the same work on the same tables, but keeps no hash and no masks by kind, which bare
alpha-beta has no use for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from meijin.bots.core.geometry import LINES, SIDE
from meijin.bots.core.lookup import tables_of
from meijin.bots.core.shapes import THREATS
from meijin.bots.core.state import OCCUPIED_MARGIN
from meijin.game import Variant

WALLS = (1 << 64) - 1


Change: TypeAlias = tuple[int, int, int]
"""A cell, and the codes that it had: black's and white's."""


@dataclass(frozen=True, slots=True)
class Window:
    """What a stone changes along one line."""

    line: int
    shift: int
    """Of the stone's two bits in the word of the line."""
    near: tuple[tuple[int, int], ...]
    """The cells that it is near to, itself included: their shifts, and they themselves."""


class PlainState:
    """`STATE` with what bare alpha-beta needs, and `TABLES` as lists."""

    def __init__(self, variant: Variant, cells: Iterable[int] = ()) -> None:
        tables = tables_of(variant)
        self.variant = variant
        self.width, self.height, self.cells = variant.width, variant.height, variant.cells
        self._bits = 2 * int(tables.reach)
        self._mask = (1 << self._bits) - 1
        self._patterns = bytes(tables.patterns[: 1 << 2 * self._bits])
        self._threats = bytes(tables.threats)
        self.windows = [
            [_window(tables, direction, cell) for cell in range(self.cells)]
            for direction in range(4)
        ]
        self.side = 0
        self.empties = self.cells
        self.occupied = [0] * (SIDE + 2 * OCCUPIED_MARGIN)
        self.counts = [[0] * THREATS, [0] * THREATS]
        self._played: list[tuple[int, int, list[Change]]] = []
        self._lines = [[WALLS] * LINES for _ in range(4)]
        for windows, lines in zip(self.windows, self._lines, strict=True):
            for window in windows:
                lines[window.line] ^= 3 << window.shift
        self.codes = [[0] * self.cells, [0] * self.cells]
        self._include_all()
        for cell in cells:
            self.make(cell)

    def make(self, cell: int) -> None:
        """Place a stone of the side to move on an empty cell."""
        changes: list[Change] = []
        self._played.append((cell, self.side, changes))
        self._include(cell, -1)
        self._toggle(cell)
        for direction in range(4):
            self._spread(direction, cell, changes)
        self.side = 1 - self.side
        self.empties -= 1

    def undo(self) -> None:
        """Take the last stone back."""
        cell, _, changes = self._played.pop()
        blacks, whites = self.codes
        self.side = 1 - self.side
        self.empties += 1
        for near, black, white in changes:
            if blacks[near] != black:
                self._recode(0, near, black)
            if whites[near] != white:
                self._recode(1, near, white)
        self._toggle(cell)
        self._include(cell, 1)

    def played(self) -> list[tuple[int, int]]:
        """The stones in the order played: their cells, and who placed them."""
        return [(cell, side) for cell, side, _ in self._played]

    def candidates(self) -> list[int]:
        """The empty cells near stones, as the core lists them."""
        if self.empties == self.cells:
            return [self.height // 2 * self.width + self.width // 2]
        full = (1 << self.width) - 1
        rows = self.occupied[OCCUPIED_MARGIN : OCCUPIED_MARGIN + self.height]
        found = []
        for row, stones in enumerate(rows):
            found += self._cells_of(row, self._near_row(row) & full & ~stones)
        if not found:
            for row, stones in enumerate(rows):
                found += self._cells_of(row, full & ~stones)
        return found

    def _cells_of(self, row: int, mask: int) -> list[int]:
        cells = []
        while mask:
            cells.append(row * self.width + (mask & -mask).bit_length() - 1)
            mask &= mask - 1
        return cells

    def _near_row(self, row: int) -> int:
        above3, above2, above, here, below, below2, below3 = self.occupied[row : row + 7]
        square = above2 | above | here | below | below2
        far = above3 | below3
        near = square | square << 1 | square << 2 | square >> 1 | square >> 2
        return near | far | (far | here) << 3 | (far | here) >> 3

    def _spread(self, direction: int, cell: int, changes: list[Change]) -> None:
        """Reclassify the empty cells of one line that a stone just placed is near to."""
        window = self.windows[direction][cell]
        word = self._lines[direction][window.line]
        blacks, whites = self.codes
        patterns, bits, mask = self._patterns, self._bits, self._mask
        nibble = 4 * direction
        for shift, near in window.near:
            if word >> shift & 3:
                continue
            pattern = patterns[word >> shift - bits & mask | (word >> shift + 2 & mask) << bits]
            black, white = blacks[near], whites[near]
            change = (black >> nibble & 15 | (white >> nibble & 15) << 4) ^ pattern
            if change:
                changes.append((near, black, white))
            if change & 15:
                self._recode(0, near, black ^ (change & 15) << nibble)
            if change >> 4:
                self._recode(1, near, white ^ (change >> 4) << nibble)

    def _toggle(self, cell: int) -> None:
        self.occupied[cell // self.width + OCCUPIED_MARGIN] ^= 1 << cell % self.width
        for windows, lines in zip(self.windows, self._lines, strict=True):
            window = windows[cell]
            lines[window.line] ^= self.side + 1 << window.shift

    def _include_all(self) -> None:
        """Classify and count the cells of the empty board."""
        for cell in range(self.cells):
            self._include(cell, 1)
        for cell in range(self.cells):
            for direction in range(4):
                self._spread(direction, cell, [])

    def _include(self, cell: int, sign: int) -> None:
        for color in range(2):
            code = self.codes[color][cell]
            self.counts[color][self._threats[code]] += sign

    def _recode(self, color: int, cell: int, code: int) -> None:
        """Give a cell a code, and count it so."""
        codes, threats = self.codes[color], self._threats
        old, new = threats[codes[cell]], threats[code]
        codes[cell] = code
        if old != new:
            counts = self.counts[color]
            counts[old] -= 1
            counts[new] += 1


def _window(tables: np.record, direction: int, cell: int) -> Window:
    step = int(tables.step[direction])
    before, after = int(tables.before[direction, cell]), int(tables.after[direction, cell])
    shift = int(tables.shift[direction, cell])
    near = ((shift + 2 * at, cell + at * step) for at in range(-before, after + 1))
    return Window(int(tables.line[direction, cell]), shift, tuple(near))

"""The core's network in plain Python: lists and integers, no arrays."""

from __future__ import annotations

from plain_state import WALLS, PlainState

from meijin.bots.core.geometry import LINES
from meijin.bots.core.lookup import CHANNELS, tables_of
from meijin.bots.core.network import (
    INT16_MAX,
    LAYER_SHIFT,
    POLICY_SHIFT,
    POOL_SHIFT,
    VALUE_SHIFT,
)
from meijin.bots.core.windows import WINDOW

BITS = 2 * WINDOW
MASK = (1 << BITS) - 1

Stone = tuple[int, int]
"""A cell, and who placed it."""


class PlainNetwork:
    """Follows a position when it is asked for a value, stone by stone, as the core does."""

    def __init__(self, state: PlainState) -> None:
        tables = tables_of(state.variant)
        self._state = state
        self._window_rows = tables.window_rows.tolist()
        self._rows = tables.rows.tolist()
        self._policy = tables.policy.tolist()
        self._first = list(zip(tables.first.tolist(), tables.first_bias.tolist(), strict=True))
        self._second = list(zip(tables.second.tolist(), tables.second_bias.tolist(), strict=True))
        self._last, self._last_bias = tables.last.tolist(), int(tables.last_bias)
        self._seen: list[Stone] = []
        self._lines = [[WALLS] * LINES for _ in range(4)]
        for windows, lines in zip(state.windows, self._lines, strict=True):
            for window in windows:
                lines[window.line] ^= 3 << window.shift
        self._features = [[0] * 2 * CHANNELS for _ in range(state.cells)]
        self._pooled = [0] * 2 * CHANNELS

    def sync(self) -> None:
        """Take the stones that were undone, and place those that are new."""
        stones, seen = self._state.played(), self._seen
        common = 0
        while common < min(len(stones), len(seen)) and stones[common] == seen[common]:
            common += 1
        while len(seen) > common:
            cell, side = seen.pop()
            self._toggle(cell, side)
            self._count(cell, 1)
        for cell, side in stones[common:]:
            seen.append((cell, side))
            self._count(cell, -1)
            self._toggle(cell, side)

    def value(self) -> int:
        """The value of the position for the side to move."""
        self.sync()
        views = [self._pooled[:CHANNELS], self._pooled[CHANNELS:]]
        side = self._state.side
        layer = [min(total >> POOL_SHIFT, INT16_MAX) for total in views[side] + views[1 - side]]
        for units in (self._first, self._second):
            layer = [
                max(sum(map(int.__mul__, weights, layer), bias) >> LAYER_SHIFT, 0)
                for weights, bias in units
            ]
        total = sum(map(int.__mul__, self._last, layer), self._last_bias)
        return int(total) >> VALUE_SHIFT

    def policy_score(self, cell: int) -> int:
        """The policy score of a move of the side to move; `sync` comes first."""
        policy = self._policy[self._state.side]
        pairs = zip(self._features[cell], policy, strict=True)
        total = sum(feature * weight for feature, weight in pairs if feature > 0)
        return int(total) >> POLICY_SHIFT

    def _count(self, cell: int, sign: int) -> None:
        pairs = zip(self._pooled, self._features[cell], strict=True)
        self._pooled = [total + sign * max(feature, 0) for total, feature in pairs]

    def _toggle(self, cell: int, side: int) -> None:
        for windows, lines in zip(self._state.windows, self._lines, strict=True):
            window = windows[cell]
            old = lines[window.line]
            lines[window.line] = word = old ^ side + 1 << window.shift
            for shift, near in window.near:
                if near != cell and not word >> shift & 3 and abs(shift - window.shift) <= BITS:
                    before, after = self._row(old, shift), self._row(word, shift)
                    if before != after:
                        self._exchange(near, before, after)

    def _row(self, word: int, shift: int) -> int:
        key = word >> shift - BITS & MASK | (word >> shift + 2 & MASK) << BITS
        row: int = self._window_rows[key]
        return row

    def _exchange(self, cell: int, old: int, new: int) -> None:
        was, before, after = self._features[cell], self._rows[old], self._rows[new]
        now = [f + a - b for f, a, b in zip(was, after, before, strict=True)]
        self._features[cell] = now
        self._pooled = [
            total + max(new, 0) - max(old, 0)
            for total, new, old in zip(self._pooled, now, was, strict=True)
        ]

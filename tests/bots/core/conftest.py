"""Positions of the search core, and the brute force that it is checked against."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import hypothesis.strategies as st

from meijin.bots.core.jit import new_record
from meijin.bots.core.lookup import tables_of
from meijin.bots.core.state import STATE, init, make
from meijin.game import Rule, Variant


class Core:
    """A state and its tables, with nothing switched on."""

    def __init__(self, variant: Variant, cells: Iterable[int] = ()) -> None:
        self.variant = variant
        self.tables = tables_of(variant)
        self.state = new_record(STATE)
        init(self.state, self.tables)
        for cell in cells:
            make(self.state, self.tables, cell)


DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))
WALL = 3


def variants(*rules: Rule) -> st.SearchStrategy[Variant]:
    sides = st.integers(5, 22)
    return st.builds(Variant, rule=st.sampled_from(rules), width=sides, height=sides)


def seen_from(
    variant: Variant, stones: Sequence[int], cell: int, way: int, reach: int
) -> list[int]:
    """What stands around a cell, by walking along its line; beyond the board a wall."""
    rows, columns = DIRECTIONS[way]
    seen = []
    for step in (*range(-reach, 0), *range(1, reach + 1)):
        row, column = cell // variant.width + step * rows, cell % variant.width + step * columns
        inside = 0 <= row < variant.height and 0 <= column < variant.width
        seen.append(int(stones[row * variant.width + column]) if inside else WALL)
    return seen

"""The position of the search core."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bots.core.conftest import Core, seen_from, variants

from meijin.bots.core.jit import new_record
from meijin.bots.core.lookup import FIVES
from meijin.bots.core.shapes import BLOCKED_CELL, EMPTY_CELL, OWN_CELL, window_shapes
from meijin.bots.core.state import STATE, init, make, rebuild, undo
from meijin.game import RULES, Rule, Variant

POSITION = ("side", "empties", "hash", "stones", "occupied", "lines", "counts", "masks")
"""The fields that the stones alone determine; `codes` is stale under a stone."""


def snapshot(state: np.record) -> dict[str, Any]:
    """The position, by field; codes of empty cells alone."""
    fields = {name: np.array(state[name]) for name in POSITION}
    return fields | {"codes": np.where(state.stones == 0, state.codes, 0)}


def assert_same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


def recomputed(state: np.record, tables: np.record) -> dict[str, Any]:
    copy = new_record(STATE)
    copy.stones[:] = state.stones
    copy.side = state.side
    rebuild(copy, tables)
    return snapshot(copy)


@settings(max_examples=60)
@given(variant=variants(*RULES.values()), seed=st.integers(0, 1 << 32), share=st.floats(0, 1))
def test_make_and_undo(variant: Variant, seed: int, share: float) -> None:
    """After any stones made and taken back, the position is as if computed anew."""
    rng = Random(seed)
    position = Core(variant)
    state, tables = position.state, position.tables
    before = []
    for cell in rng.sample(range(variant.cells), int(share * variant.cells)):
        before.append(snapshot(state))
        make(state, tables, cell)
        if rng.random() < 0.2:
            undo(state, tables)
            assert_same(snapshot(state), before.pop())
    assert_same(snapshot(state), recomputed(state, tables))
    while before:
        undo(state, tables)
        assert_same(snapshot(state), before.pop())


def shape_around(stones: list[int], variant: Variant, cell: int, color: int, way: int) -> int:
    sides = FIVES[variant.rule.name]
    reach = max(fives.reach for fives in sides)
    digits = {0: EMPTY_CELL, color + 1: OWN_CELL}
    seen = seen_from(variant, stones, cell, way, reach)
    window = sum(digits.get(kind, BLOCKED_CELL) * 3**number for number, kind in enumerate(seen))
    return int(window_shapes(sides[color], reach)[window])


@pytest.mark.parametrize("rule", RULES.values())
@pytest.mark.parametrize("size", [(5, 5), (9, 6), (15, 15), (22, 22)])
def test_codes(rule: Rule, size: tuple[int, int]) -> None:
    """A code holds the shapes that a walk along each line finds."""
    variant = Variant(rule, *size)
    cells = Random(3).sample(range(variant.cells), variant.cells // 3)
    state = Core(variant, cells).state
    stones = [int(stone) for stone in state.stones]
    for cell in set(range(variant.cells)) - set(cells):
        for color in range(2):
            code = int(state.codes[color, cell])
            shapes = [code >> 4 * way & 15 for way in range(4)]
            assert shapes == [shape_around(stones, variant, cell, color, way) for way in range(4)]


def test_init_clears() -> None:
    """A record that was used holds an empty board again."""
    position = Core(Variant(), [112, 113, 97])
    init(position.state, position.tables)
    assert_same(snapshot(position.state), snapshot(Core(Variant()).state))
    assert position.state.made == 0

"""The network of the search core, against numpy."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.bots.core.conftest import Core, seen_from, variants

from meijin.bots.core.lookup import ROWS, WINDOW, load_network, number_windows
from meijin.bots.core.network import (
    LAYER_SHIFT,
    MAX_EVAL,
    POLICY_SHIFT,
    POOL_SHIFT,
    VALUE_SHIFT,
    evaluate,
    policy_score,
    sync,
    value,
)
from meijin.bots.core.state import make, undo
from meijin.game import FREESTYLE, STANDARD, Rule, Variant


def expected_features(position: Core) -> NDArray[np.int64]:
    """The features of all empty cells, black's view first; 0 under a stone."""
    windows, rows = number_windows(), load_network()["rows"].astype(int)
    stones = [int(stone) for stone in position.state.stones]
    features = np.zeros((position.variant.cells, 2, rows.shape[1]), int)
    for cell in range(position.variant.cells):
        if stones[cell] == 0:
            for way in range(4):
                seen = seen_from(position.variant, stones, cell, way, WINDOW)
                row = windows.rows[sum(kind << 2 * number for number, kind in enumerate(seen))]
                features[cell] += rows[[row, windows.exchanged[row]]]
    return np.maximum(features, 0)


def expected_value(position: Core) -> int:
    network, side = load_network(), int(position.state.side)
    pooled = expected_features(position).sum(axis=0)[[side, 1 - side]].reshape(-1)
    layer = pooled >> POOL_SHIFT
    for name in ("first", "second"):
        layer = network[name].astype(int) @ layer + network[f"{name}_bias"]
        layer = np.maximum(layer >> LAYER_SHIFT, 0)
    return int(network["last"] @ layer + network["last_bias"]) >> VALUE_SHIFT


def shuffled(variant: Variant, seed: int, share: float) -> list[int]:
    return Random(seed).sample(range(variant.cells), int(share * variant.cells))


@settings(max_examples=40)
@given(variant=variants(FREESTYLE, STANDARD), seed=st.integers(0, 1 << 32), share=st.floats(0, 0.9))
def test_seeing_keeps_up(variant: Variant, seed: int, share: float) -> None:
    """However stones come and go, the accumulators are those of the position."""
    position, rng = Core(variant), Random(seed)
    for cell in shuffled(variant, seed, share):
        make(position.state, position.tables, cell)
        if rng.random() < 0.2:
            for _ in range(rng.randint(1, int(position.state.made))):
                undo(position.state, position.tables)
        if rng.random() < 0.2:
            sync(position.state, position.tables)
    sync(position.state, position.tables)
    state, features = position.state, expected_features(position)
    empty = np.flatnonzero(state.stones[: variant.cells] == 0)
    synced = np.maximum(state.features[empty].reshape(features[empty].shape), 0)
    np.testing.assert_array_equal(synced, features[empty])
    np.testing.assert_array_equal(state.pooled, features.sum(axis=0).reshape(-1))


@pytest.mark.parametrize("rule", [FREESTYLE, STANDARD])
@pytest.mark.parametrize("seed", range(5))
def test_value(rule: Rule, seed: int) -> None:
    """The value and the policy scores are those of the network's definition."""
    variant = Variant(rule, 15, 13)
    position = Core(variant, shuffled(variant, seed, 0.05 + 0.05 * seed))
    side = int(position.state.side)
    assert value(position.state, position.tables) == expected_value(position)
    sync(position.state, position.tables)
    policy, features = load_network()["policy"].astype(int), expected_features(position)
    for cell in range(variant.cells):
        if position.state.stones[cell] == 0:
            expected = int((features[cell][[side, 1 - side]] * policy).sum()) >> POLICY_SHIFT
            assert policy_score(position.state, position.tables, cell) == expected


def test_values_are_cached() -> None:
    """A position has the same value however often, and by whichever way, it is reached."""
    variant, rng = Variant(width=9, height=9), Random(6)
    position = Core(variant)
    for _ in range(60):
        if position.state.made and rng.random() < 0.4:
            undo(position.state, position.tables)
        else:
            cells = np.flatnonzero(position.state.stones[:81] == 0)
            make(position.state, position.tables, rng.choice(cells.tolist()))
        expected = min(MAX_EVAL, max(-MAX_EVAL, expected_value(position)))
        for _ in range(2):
            assert evaluate(position.state, position.tables) == expected


def turned(cell: int, side: int, turn: int) -> int:
    """The cell of a square board under one of its eight symmetries."""
    row, column = divmod(cell, side)
    for _ in range(turn % 4):
        row, column = column, side - 1 - row
    if turn >= 4:
        column = side - 1 - column
    return row * side + column


@pytest.mark.parametrize("turn", range(8))
def test_symmetry(turn: int) -> None:
    """A board turned or reflected has the same value."""
    cells = [112, 113, 97, 128, 84, 98, 126, 99, 70]
    found = [Core(Variant(), cells), Core(Variant(), [turned(cell, 15, turn) for cell in cells])]
    first, second = (value(position.state, position.tables) for position in found)
    assert first == second


def test_colours_are_alike() -> None:
    """With all colours exchanged a position has the same value for the side to move."""
    black, white = [112, 97, 84, 70], [113, 128, 98, 126]

    def worth(first: list[int], second: list[int], side: int) -> int:
        position: Any = Core(
            Variant(), [c for pair in zip(first, second, strict=True) for c in pair]
        )
        position.state.side = side
        return int(value(position.state, position.tables))

    assert worth(black, white, 0) == worth(white, black, 1)
    assert worth(black, white, 0) != worth(white, black, 0)


def test_numbering() -> None:
    """Windows are the same in a mirror, and have a counterpart of the other colour."""
    windows = number_windows()
    assert len(windows.exchanged) == ROWS == windows.rows.max() + 1
    assert (windows.exchanged[windows.exchanged] == np.arange(ROWS)).all()
    assert windows.rows[0] == windows.exchanged[0] == 0

    def row(text: str) -> int:
        return int(windows.rows[sum(".xo#".index(c) << 2 * n for n, c in enumerate(text))])

    assert row("..x.o...") == row("...o.x..")
    assert windows.exchanged[row("..x.o...")] == row("..o.x...")
    assert row("#o.xx...") == row("oo.xx...") != row("...xx...")  # what is behind an end
    assert row("ox.xo###") == 0  # no room for five of either colour

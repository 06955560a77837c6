"""How deep and how wide positions are searched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from meijin.bots.core.selectivity import (
    FEW_REPLIES,
    depth_cost,
    is_quiescent,
    late_move_reduction,
    move_count_limit,
)
from meijin.game import GOMOKU, parse_cell

if TYPE_CHECKING:
    from tests.bots.core.conftest import Core

QUIET, THREE, FOUR = "h8 i9", "h8 a1 i8 c1 j8", "h8 a1 i8 c1 j8 g8 k8"


def after(core: type[Core], names: str) -> Core:
    """A position of an engine that leaves nothing out."""
    position = core(GOMOKU, [parse_cell(name, GOMOKU) for name in names.split()])
    position.state.width = 24
    position.state.use_reductions = 1
    return position


def test_width(core: type[Core]) -> None:
    """More moves are tried with more depth left, fewer where things got worse."""
    state = after(core, QUIET).state
    widths = [move_count_limit(state, depth, 0, 0) for depth in range(1, 8)]
    assert widths == sorted(widths)
    assert widths[0] < widths[-1] == 24
    assert move_count_limit(state, 2, 0, 1) < move_count_limit(state, 2, 0, 0)
    assert move_count_limit(state, 1, 1, 0) == 24


@pytest.mark.parametrize(
    ("names", "depth", "calm"),
    [
        (QUIET, 0, 1),
        (THREE, 0, 0),
        (THREE, -1, 1),
        (FOUR, 0, 0),
        (FOUR, -1, 0),
    ],
)
def test_calm(names: str, depth: int, calm: int, core: type[Core]) -> None:
    """A four is always answered before a position is valued, an open three once."""
    assert is_quiescent(after(core, names).state, depth) == calm


@pytest.mark.parametrize(
    ("names", "move", "count", "plies"),
    [
        (QUIET, "j10", 50, 1),
        (THREE, "g8", 4, 0),
        (THREE, "g8", FEW_REPLIES + 1, 1),
        (FOUR, "l8", 1, 0),
        ("h8 a1 i8 b1 j8 c1 a8", "d1", 6, 1),
    ],
)
def test_price(names: str, move: str, count: int, plies: int, core: type[Core]) -> None:
    """A reply costs no depth where there are few; a four in between does."""
    position = after(core, names)
    cell = parse_cell(move, GOMOKU)
    assert depth_cost(position.state, position.tables, cell, count) == plies


def test_reduction(core: type[Core]) -> None:
    """Late and quiet moves are searched less deep, but two plies are left to them."""
    position = after(core, QUIET)
    cell = parse_cell("k5", GOMOKU)
    plies = [
        late_move_reduction(position.state, position.tables, cell, 9, n, 0) for n in (0, 1, 5, 20)
    ]
    assert plies[:2] == [0, 0]
    assert 0 < plies[2] < plies[3] <= 7
    assert late_move_reduction(position.state, position.tables, cell, 3, 60, 5) == 1
    three = after(core, "h8 a1 i8 c1")
    extends = parse_cell("j8", GOMOKU)
    assert late_move_reduction(three.state, three.tables, extends, 9, 20, 0) == 0

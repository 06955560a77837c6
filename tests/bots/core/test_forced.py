"""Wins at hand and forced replies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from meijin.bots.core.forced import add_forced_replies, immediate_win_cell, immediate_win_plies
from meijin.game import GOMOKU, cell_name, parse_cell

if TYPE_CHECKING:
    from tests.bots.core.conftest import Core


def after(core: type[Core], names: str) -> Core:
    """The position after some moves."""
    return core(GOMOKU, [parse_cell(name, GOMOKU) for name in names.split()])


@pytest.mark.parametrize(
    ("names", "plies", "winning"),
    [
        ("h8 a1 i8 c1 j8 e1 k8 g1", 1, {"g8", "l8"}),
        ("h8 a1 i8 c1 j8 e1", 3, {"g8", "k8"}),
        ("h8 a1 i8 b1 j8 c1 a8 d1", 0, set()),
        ("h8 a1 i8 c1", 0, set()),
    ],
    ids=["five", "open four", "the other side is faster", "nothing"],
)
def test_wins_at_hand(names: str, plies: int, winning: set[str], core: type[Core]) -> None:
    """A five comes before an open four, which must not come after the other side's five."""
    position = after(core, names)
    assert immediate_win_plies(position.state) == plies
    if plies:
        cell = immediate_win_cell(position.state, position.tables, plies)
        assert cell_name(cell, GOMOKU) in winning


@pytest.mark.parametrize(
    ("names", "replies"),
    [
        ("h8 a1 i8 c1 j8 g8 k8", {"l8"}),
        ("h8 a1 i8 c1 j8", {"f8", "g8", "k8", "l8"}),
        ("h8 a1 i8 b1 j8 c1 a8", {"f8", "g8", "k8", "l8", "d1", "e1"}),
        ("h8 i9", set()),
    ],
    ids=["four", "open three", "with fours of one's own", "nothing"],
)
def test_replies(names: str, replies: set[str], core: type[Core]) -> None:
    """A four leaves one cell, an open three those of its fours and one's own fours."""
    position = after(core, names)
    count = add_forced_replies(position.state, position.tables, 0)
    moves = {cell_name(int(cell), GOMOKU) for cell in position.state.moves[0, :count]}
    assert moves == replies

"""Tree searches as they are asked: limits, lines, and what is kept between moves."""

from __future__ import annotations

from datetime import timedelta
from itertools import count, pairwise

import pytest
from tests.bots.conftest import cells

from meijin.bots.core.limits import TreeLimits
from meijin.bots.core.puct import GuidedTree, lower_bound, new_tree
from meijin.bots.core.uct import PureTree
from meijin.game import GOMOKU, STANDARD, Board, Variant

ALWAYS = 1 << 30
QUIET = "h8 i9"


@pytest.mark.parametrize("kind", [GuidedTree, PureTree])
@pytest.mark.parametrize("seconds", [0.0, 0.05])
def test_a_search_ends_in_time(kind: type[GuidedTree | PureTree], seconds: float) -> None:
    """It ends at the first look at the clock after its time is up, with a legal move."""
    looks = count(1)
    limits = TreeLimits(ALWAYS, timedelta(seconds=seconds))
    found = kind(GOMOKU, clock=lambda: next(looks) / 1000).search(cells(QUIET), limits)
    assert seconds <= (next(looks) - 1) / 1000 <= seconds + 0.003
    Board.from_moves([*cells(QUIET), found.cell])


@pytest.mark.parametrize("kind", [GuidedTree, PureTree])
@pytest.mark.parametrize("variant", [GOMOKU, Variant(rule=STANDARD, width=9, height=11)])
def test_the_line_can_be_played(kind: type[GuidedTree | PureTree], variant: Variant) -> None:
    found = kind(variant).search([40], TreeLimits(1_000))
    assert found.pv[0] == found.cell
    assert found.visits == 1_000
    Board.from_moves([40, *found.pv], variant)


def test_the_best_lower_bound_is_chosen() -> None:
    """A win is above all, a loss below; a good value counts for less after few visits."""
    in_order = [
        (9, 0.9, -1),
        (0, 0.0, 0),
        (4, 0.5, 0),
        (900, 0.2, 0),
        (500, 0.4, 0),
        (900, 0.4, 0),
        (1, -0.9, 1),
    ]
    nodes, _ = new_tree(len(in_order))
    for node, (visits, mean, proven) in zip(nodes, in_order, strict=True):
        node["visits"], node["total"], node["proven"] = visits, visits * mean, proven
    bounds = [lower_bound(nodes, node) for node in range(len(in_order))]
    assert all(less < more for less, more in pairwise(bounds))


def test_a_win_by_fours_needs_no_visit() -> None:
    """It is seen before the tree is grown."""
    found = GuidedTree(GOMOKU).search(cells("h8 h7 i8 i7 j8 j7"), TreeLimits(ALWAYS))
    assert (found.expected_score, found.visits) == (1.0, 0)
    assert found.cell in cells("g8 k8")


def test_the_last_empty_cell_is_taken() -> None:
    """There is one move, and the game is a draw."""
    variant = Variant(width=5, height=5)
    board = Board(variant)
    for column in (0, 2, 1, 3, 4):
        for row in range(5):
            board.play(row * 5 + column)
    last = board.undo()
    found = GuidedTree(variant).search(board.moves, TreeLimits(10))
    assert (found.cell, found.expected_score) == (last, 0.5)


def test_what_was_learnt_is_kept_within_a_game() -> None:
    """Moves that were expected go down the tree; others begin a new one."""
    tree = GuidedTree(GOMOKU)
    limits = TreeLimits(3_000)
    first = tree.search(cells(QUIET), limits)
    followed = [*cells(QUIET), *first.pv[:2]]
    assert tree.search(followed, TreeLimits(2)).visits > 2
    assert tree.search(followed, TreeLimits(2)).visits > 2
    assert tree.search(cells(QUIET), TreeLimits(2)).visits == 2
    assert tree.search(cells("a1 o15 a15"), TreeLimits(2)).visits == 2


def test_a_kept_tree_answers_as_a_new_one() -> None:
    """A win that was found deeper in the tree is still a win at its root."""
    tree = GuidedTree(GOMOKU)
    tree.search(cells("h8 a1 i8 a15"), TreeLimits(2_000))
    found = tree.search(cells("h8 a1 i8 a15 j8 o1"), TreeLimits(2_000))
    assert found.expected_score == 1.0

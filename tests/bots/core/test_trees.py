"""Tree searches as they are asked: limits, lines, and what is kept between moves."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from meijin.bots.core.guided import new_tree
from meijin.bots.core.guided_tree import GuidedTree, surety
from meijin.bots.core.pure_tree import PureTree
from meijin.bots.core.thought import Effort, Thought
from meijin.game import GOMOKU, STANDARD, Board, Variant, parse_opening

if TYPE_CHECKING:
    from tests.bots.conftest import TickingClock

ALWAYS = 1 << 30
QUIET = "h8 i9"


def cells(text: str) -> list[int]:
    """The cells of moves as people write them."""
    return list(parse_opening(text, GOMOKU))


@pytest.mark.parametrize("kind", [GuidedTree, PureTree])
@pytest.mark.parametrize("seconds", [0.05, 0.2])
def test_a_search_ends_in_time(
    kind: type[GuidedTree | PureTree], seconds: float, ticking_clock: TickingClock
) -> None:
    """It ends at the first look at the clock after its time is up."""
    start = ticking_clock.now
    kind(GOMOKU, clock=ticking_clock).think(cells(QUIET), Effort(ALWAYS, seconds))
    assert start + seconds <= ticking_clock.now <= start + seconds + 0.002


@pytest.mark.parametrize("kind", [GuidedTree, PureTree])
def test_a_move_is_found_without_any_time(kind: type[GuidedTree | PureTree]) -> None:
    """What little there is leads to a legal move."""
    thought = kind(GOMOKU).think(cells(QUIET), Effort(ALWAYS, 0))
    Board.from_moves([*cells(QUIET), thought.cell])


@pytest.mark.parametrize("kind", [GuidedTree, PureTree])
@pytest.mark.parametrize("variant", [GOMOKU, Variant(rule=STANDARD, width=9, height=11)])
def test_the_line_can_be_played(kind: type[GuidedTree | PureTree], variant: Variant) -> None:
    """It begins with the move."""
    thought = kind(variant).think([40], Effort(1_000, 60))
    assert thought.line[0] == thought.cell
    assert thought.visits == 1_000
    Board.from_moves([40, *thought.line], variant)


def test_the_surest_move_is_chosen() -> None:
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
    sureties = [surety(nodes, node) for node in range(len(in_order))]
    assert all(less < more for less, more in pairwise(sureties))


def test_a_win_by_fours_needs_no_visit() -> None:
    """It is seen before the tree is grown."""
    thought = GuidedTree(GOMOKU).think(cells("h8 h7 i8 i7 j8 j7"), Effort(ALWAYS, 60))
    assert (thought.share, thought.visits) == (1.0, 0)
    assert thought.cell in cells("g8 k8")


def test_the_last_empty_cell_is_taken() -> None:
    """There is one move, and the game is a draw."""
    variant = Variant(width=5, height=5)
    board = Board(variant)
    for column in (0, 2, 1, 3, 4):
        for row in range(5):
            board.play(row * 5 + column)
    last = board.undo()
    thought = GuidedTree(variant).think(board.moves, Effort(10, 60))
    assert (thought.cell, thought.share) == (last, 0.5)


def test_what_was_learnt_is_kept_within_a_game() -> None:
    """Moves that were expected go down the tree; others begin a new one."""
    tree = GuidedTree(GOMOKU)
    effort = Effort(3_000, 60)
    first = tree.think(cells(QUIET), effort)
    followed = [*cells(QUIET), *first.line[:2]]
    assert tree.think(followed, Effort(2, 60)).visits > 2
    assert tree.think(followed, Effort(2, 60)).visits > 2
    assert tree.think(cells(QUIET), Effort(2, 60)).visits == 2
    assert tree.think(cells("a1 o15 a15"), Effort(2, 60)).visits == 2


def test_a_kept_tree_answers_as_a_new_one() -> None:
    """A win that was found deeper in the tree is still a win at its root."""
    tree = GuidedTree(GOMOKU)
    tree.think(cells("h8 a1 i8 a15"), Effort(2_000, 60))
    thought = tree.think(cells("h8 a1 i8 a15 j8 o1"), Effort(2_000, 60))
    assert thought.share == 1.0


def test_a_seed_plays_the_same() -> None:
    """The pure form draws by lot, and the seed says how."""

    def found(seed: int) -> Thought:
        return PureTree(GOMOKU, seed).think(cells(QUIET), Effort(2_000, 60))

    assert found(1) == found(1)
    assert found(1) != found(2)

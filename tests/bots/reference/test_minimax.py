"""Minimax and alpha-beta on any tree: the same values, fewer positions."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.bots.reference import (
    Game,
    Ordering,
    Table,
    alphabeta,
    fewest_leaves,
    minimax,
    negamax,
    ordered_by,
    scan,
    shuffled,
)
from meijin.bots.reference.minimax import Bounds
from meijin.bots.reference.tree import Tree, TreeGame, node

TREES = st.recursive(
    st.builds(lambda value: Tree(value=value), st.integers(-4, 4)),
    lambda below: st.builds(lambda trees: node("", *trees), st.lists(below, min_size=1)),
    max_leaves=40,
)


def uniform(branching: int, depth: int, rng: Random) -> Tree:
    """A tree of one branching and one depth whose leaves all differ, drawn by `rng`."""
    if depth == 0:
        return Tree(value=rng.random())
    return node("", *(uniform(branching, depth - 1, rng) for _ in range(branching)))


def perfect(game: Game[int], move: int) -> float:
    """The true value of a move to the side that makes it."""
    sign = 1 if game.maximiser_to_move else -1
    game.play(move)
    value = minimax(game).value
    game.undo()
    return sign * value


def orderings(seed: int) -> list[Ordering[int]]:
    return [scan, shuffled(Random(seed)), ordered_by(perfect), ordered_by(opposite)]


def opposite(game: Game[int], move: int) -> float:
    return -perfect(game, move)


@given(TREES, st.booleans(), st.integers(0, 9), st.just(math.inf) | st.integers(0, 4))
def test_all_find_the_same(tree: Tree, maximiser_first: bool, seed: int, depth: float) -> None:  # noqa: FBT001
    """For every ordering the value is minimax's, the move one of its best, the work no more."""
    game = TreeGame(tree, maximiser_first=maximiser_first)
    plain = minimax(game, depth)
    for order in orderings(seed):
        table: Table = {}
        for found in (
            alphabeta(game, depth, order=order),
            negamax(game, depth, order=order),
            negamax(game, depth, order=order, table=table),
        ):
            assert found.value == plain.value
            assert set(found.moves) <= set(plain.moves)
            assert bool(found.moves) is bool(plain.moves)
            assert found.nodes <= plain.nodes
            assert found.leaves <= plain.leaves


@given(TREES)
def test_both_forms_visit_the_same(tree: Tree) -> None:
    """Alpha-beta as one function or as two is the same search."""
    assert alphabeta(TreeGame(tree)) == negamax(TreeGame(tree))


@pytest.mark.parametrize(("branching", "depth"), [(2, 1), (2, 5), (3, 3), (3, 4), (4, 4), (5, 3)])
@pytest.mark.parametrize("maximiser_first", [True, False])
def test_perfect_order_meets_the_bound(
    branching: int,
    depth: int,
    maximiser_first: bool,  # noqa: FBT001
) -> None:
    """With the best move first it evaluates b^ceil(d/2) + b^floor(d/2) - 1 leaves exactly."""
    tree = uniform(branching, depth, Random(branching * depth))
    game = TreeGame(tree, maximiser_first=maximiser_first)
    half = math.ceil(depth / 2)
    expected = branching**half + branching ** (depth - half) - 1
    assert fewest_leaves(branching, depth) == expected
    for search in (alphabeta, negamax):
        assert search(game, order=ordered_by(perfect)).leaves == expected
        assert search(game, order=ordered_by(opposite)).leaves > expected or depth == 1
    assert minimax(game).leaves == branching**depth


def test_minimax_names_every_best_move() -> None:
    """Alpha-beta names the first alone."""
    game = TreeGame(node("", 1, 5, 5, 2, 5))
    assert minimax(game).moves == (1, 2, 4)
    assert alphabeta(game).moves == negamax(game).moves == (1,)


def test_leaf_has_no_move() -> None:
    """A position that is over, or depth 0, has a value and nothing to play."""
    for search in (minimax, alphabeta, negamax):
        found = search(TreeGame(Tree(value=3)))
        assert (found.value, found.moves, found.nodes, found.leaves) == (3, (), 1, 1)
        assert search(TreeGame(node("", 1, 2)), 0).moves == ()
        with pytest.raises(IndexError):
            _ = found.move


def test_bounds_settle_what_they_can() -> None:
    """A bound is enough where it lies on the far side of the window."""
    assert Bounds(3, 3).cutoff(-9, 9) == 3
    assert Bounds(5, math.inf).cutoff(1, 4) == 5
    assert Bounds(5, math.inf).cutoff(1, 6) is None
    assert Bounds(-math.inf, 2).cutoff(2, 6) == 2
    assert Bounds(-math.inf, 2).cutoff(1, 6) is None


def test_orders() -> None:
    """`scan` changes nothing, `shuffled` is decided by its seed, equal moves keep their order."""
    game = TreeGame(node("", *range(20)))
    orders: list[Ordering[int]] = [scan, shuffled(Random(7)), shuffled(Random(7))]
    listed, first, second = (list(order(game, game.moves())) for order in orders)
    assert listed == sorted(first) == list(range(20))
    assert first == second != listed
    by_rest: Ordering[int] = ordered_by(lambda _game, move: move % 3)
    assert list(by_rest(game, range(6))) == [2, 5, 1, 4, 0, 3]

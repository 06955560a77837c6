"""UCT, on games whose values are known."""

from random import Random

import pytest
from tests.bots.reference.games import tic_tac_toe

from meijin.bots.reference import minimax, uct
from meijin.bots.reference.tree import Tree, TreeGame, node
from meijin.bots.reference.uct import win_rate


@pytest.mark.parametrize(
    ("cells", "value"),
    [((4, 0, 8, 2), 0.5), ((4, 0, 8, 2, 1), 0.5), ((0, 4, 8, 2, 6), 1), ((0, 1, 2, 6, 3), 0)],
    ids=str,
)
def test_converges_to_the_known_value(cells: tuple[int, ...], value: float) -> None:
    """The mean of the move visited most comes near to what minimax finds, and nearer with time."""
    game = tic_tac_toe(*cells)
    key = game.key
    assert win_rate(minimax(game).value) == value
    few, many = (uct(game, iterations, Random(1)) for iterations in (50, 4000))
    assert game.key == key  # everything was taken back
    assert many.value == pytest.approx(value, abs=0.05)
    assert abs(many.value - value) < abs(few.value - value)
    game.play(many.move)
    assert win_rate(minimax(game).value) == value


def test_every_playout_is_a_visit() -> None:
    """The first one is the root's own; unvisited moves come first. The seed decides the others."""
    assert dict(uct(tic_tac_toe(), 10, Random(1)).visits) == dict.fromkeys(range(9), 1)
    first, second, other = (uct(tic_tac_toe(), 300, Random(seed)) for seed in (1, 1, 2))
    assert sum(first.visits.values()) == 299
    assert first == second
    assert first.visits != other.visits


@pytest.mark.parametrize(("maximiser_first", "best", "value"), [(True, 1, 1), (False, 2, 0)])
def test_better_moves_are_visited_more(maximiser_first: bool, best: int, value: int) -> None:  # noqa: FBT001 - a table
    """Both sides prefer what is good for them."""
    tree = node("", node("", -1, 1), node("", 1, 1), node("", -1, -1))
    found = uct(TreeGame(tree, maximiser_first=maximiser_first), 600, Random(1))
    assert (found.move, found.value) == (best, value)


def test_reward_is_pluggable() -> None:
    """A game with other values than won and lost says how they are rewarded."""
    game = TreeGame(node("", 0, 512, 1024))
    found = uct(game, 200, Random(1), reward=lambda value: value / 1024)
    assert (found.move, found.value) == (2, 1)


def test_nothing_to_search() -> None:
    """A finished game and a search without playouts are refused."""
    with pytest.raises(ValueError, match="over"):
        uct(TreeGame(Tree()), 10, Random(1))
    with pytest.raises(ValueError, match="2 or more"):
        uct(tic_tac_toe(), 1, Random(1))

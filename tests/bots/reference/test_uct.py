"""UCT, on games whose values are known."""

from random import Random

import pytest

from meijin.bots.reference import minimax, uct
from meijin.bots.reference.stones import StonesGame
from meijin.bots.reference.tictactoe import outcome
from meijin.bots.reference.tree import Tree, TreeGame, node
from meijin.bots.reference.uct import win_rate
from meijin.game import TIC_TAC_TOE, Board


def tic_tac_toe(*cells: int) -> StonesGame:
    """The game after these moves, black's first."""
    return StonesGame(Board.from_moves(cells, TIC_TAC_TOE), outcome)


@pytest.mark.parametrize(
    ("cells", "winning"),
    [((0, 3, 1, 4), 2), ((0, 3, 1, 4, 8), 5)],
    ids=["black", "white"],
)
def test_finds_the_winning_move(cells: tuple[int, ...], winning: int) -> None:
    """Either side's, in 200 playouts."""
    assert uct(tic_tac_toe(*cells), 200, Random(1)).move == winning


@pytest.mark.parametrize(
    ("cells", "value"),
    [((4, 0, 8, 2), 0.5), ((4, 0, 8, 2, 1), 0.5), ((0, 4, 8, 2, 6), 1), ((0, 1, 2, 6, 3), 0)],
    ids=str,
)
def test_converges_to_the_known_value(cells: tuple[int, ...], value: float) -> None:
    """The mean of the move visited most comes near to what minimax finds, and nearer with time."""
    game = tic_tac_toe(*cells)
    assert win_rate(minimax(game).value) == value
    few, many = (uct(game, iterations, Random(1)) for iterations in (50, 4000))
    assert many.value == pytest.approx(value, abs=0.05)
    assert abs(many.value - value) < abs(few.value - value)
    game.play(many.move)
    assert win_rate(minimax(game).value) == value


def test_unvisited_moves_come_first() -> None:
    """With as many playouts as moves, and the first one for the root, each has one."""
    found = uct(tic_tac_toe(), 10, Random(1))
    assert dict(found.visits) == dict.fromkeys(range(9), 1)


def test_iterations_are_the_bound() -> None:
    """Every iteration but the first goes through one move of the root."""
    assert sum(uct(tic_tac_toe(), 500, Random(1)).visits.values()) == 499


def test_seed_decides() -> None:
    """The same seed, the same visits."""
    first, second, other = (uct(tic_tac_toe(), 300, Random(seed)) for seed in (1, 1, 2))
    assert first == second
    assert first.visits != other.visits


def test_better_moves_are_visited_more() -> None:
    """Both sides prefer what is good for them."""
    tree = node("", node("", -1, 1), node("", 1, 1), node("", -1, -1))
    for maximiser_first, best in ((True, 1), (False, 2)):
        found = uct(TreeGame(tree, maximiser_first=maximiser_first), 600, Random(1))
        assert found.move == best
        assert found.value == (1 if maximiser_first else 0)


def test_reward_is_pluggable() -> None:
    """A game with other values than won and lost says how they are rewarded."""
    game = TreeGame(node("", 0, 512, 1024))
    found = uct(game, 200, Random(1), reward=lambda value: value / 1024)
    assert (found.move, found.value) == (2, 1)


def test_game_is_left_as_found() -> None:
    """Everything is taken back."""
    game = tic_tac_toe(4)
    key = game.key
    uct(game, 50, Random(1))
    assert game.key == key


def test_nothing_to_search() -> None:
    """A finished game and a search without playouts are refused."""
    with pytest.raises(ValueError, match="over"):
        uct(TreeGame(Tree()), 10, Random(1))
    with pytest.raises(ValueError, match="2 or more"):
        uct(tic_tac_toe(), 1, Random(1))

"""Monte-Carlo tree search in its pure form."""

from collections.abc import Sequence

import numpy as np
import pytest

from meijin.bots.core.playout import new_board, set_up
from meijin.bots.core.uct import new_tree, run_simulations, select_child
from meijin.game import GOMOKU, Variant

TIC_TAC_TOE = Variant(width=3, height=3, line=3)


def searched(
    moves: Sequence[int], playouts: int, variant: Variant = GOMOKU, *, capacity: int = 1 << 16
) -> np.ndarray:
    """The tree after so many playouts from the position that the moves lead to."""
    root, board = (new_board(variant, seed) for seed in (1, 7))
    set_up(root, moves)
    nodes, work = new_tree(capacity)
    run_simulations(nodes, work, root, board, playouts)
    used: np.ndarray = nodes[: work.used]
    return used


def children(nodes: np.ndarray, node: int = 0) -> list[int]:
    """The children of a node, the newest first."""
    found, child = [], int(nodes[node]["first"])
    while child >= 0:
        found.append(child)
        child = int(nodes[child]["next"])
    return found


def best_child(nodes: np.ndarray) -> int:
    """The cell that the root has visited most."""
    child = max(children(nodes), key=lambda node: nodes[node]["visits"])
    return int(nodes[child]["cell"])


@pytest.mark.parametrize(
    ("moves", "cell"),
    [
        ([0, 3, 1, 4], 2),  # x to win
        ([0, 3, 1], 2),  # o to block
        ([0, 4, 8], None),  # o keeps the draw on a side, not in a corner
    ],
)
def test_tic_tac_toe(moves: list[int], cell: int | None) -> None:
    """It wins, blocks, and sees the trap of the corners."""
    found = best_child(searched(moves, 20_000, TIC_TAC_TOE))
    assert found == cell if cell is not None else found in {1, 3, 5, 7}


def test_more_visits_come_nearer_to_the_truth() -> None:
    """The empty board of tic-tac-toe is a draw, and the centre its best cell."""
    errors = []
    for playouts in (2_000, 200_000):
        nodes = searched([], playouts, TIC_TAC_TOE)
        best = nodes[max(children(nodes), key=lambda node: nodes[node]["visits"])]
        errors.append(abs(best["wins"] / best["visits"] - 0.5))
        assert best["cell"] == 4
    assert errors[1] < errors[0] / 2


def test_every_move_is_tried_before_one_is_tried_again() -> None:
    """The first visits of a node go to its untried moves."""
    nodes = searched([112], 224)
    assert sorted(int(nodes[child]["cell"]) for child in children(nodes)) == sorted(
        set(range(225)) - {112}
    )
    assert all(nodes[child]["visits"] == 1 for child in children(nodes))


def test_visits_add_up() -> None:
    """A node was visited once for itself and once for each visit of its children."""
    nodes = searched([112, 113], 5_000)
    assert nodes[0]["visits"] == 5_000
    for node in range(1, len(nodes)):
        below = children(nodes, node)
        if below:
            assert nodes[node]["visits"] == 1 + sum(nodes[child]["visits"] for child in below)
            assert nodes[node]["tried"] == len(below)


def test_the_bound_is_that_of_ucb1() -> None:
    """The choice is what the formula says."""
    nodes = searched([112, 113], 3_000)

    def bound(child: int) -> float:
        node = nodes[child]
        share = node["wins"] / node["visits"]
        return float(share + np.sqrt(2 * np.log(nodes[0]["visits"]) / node["visits"]))

    assert select_child(nodes, 0) == max(children(nodes), key=bound)


def test_a_full_tree_goes_on_counting() -> None:
    """Without room for more nodes the visits go on among those there are."""
    nodes = searched([], 20_000, TIC_TAC_TOE, capacity=500)
    assert len(nodes) == 500
    assert nodes[0]["visits"] == 20_000


def test_a_seed_grows_the_same_tree() -> None:
    """Nothing else is drawn by lot."""
    first, second = (searched([112], 2_000) for _ in range(2))
    assert (first == second).all()

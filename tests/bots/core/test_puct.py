"""Monte-Carlo tree search led by patterns."""

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from tests.bots.conftest import cells
from tests.bots.core.conftest import Core

from meijin.bots.core.puct import WIDTH, new_tree, run_simulations, take_subtree
from meijin.game import Board, Variant

OPEN_THREE = "h8 h9 i8 i9 j8 a1"  # black to move makes an open four


def random_moves(seed: int, count: int) -> list[int]:
    rng, board = Random(seed), Board()
    while len(board.moves) < count and not board.is_over:
        cell = rng.randrange(4, 11) * 15 + rng.randrange(4, 11)
        if board.is_legal(cell):
            board.play(cell)
    if board.is_over:
        board.undo()
    return list(board.moves)


def grown(moves: Sequence[int], visits: int, capacity: int = 1 << 17) -> tuple[np.ndarray, int]:
    """The tree after this many visits, and how many nodes of it are used."""
    core = Core(Variant(), moves)
    nodes, work = new_tree(capacity)
    run_simulations(core.state, core.tables, nodes, work, visits)
    return nodes, int(work.used)


def children(nodes: np.ndarray, node: int = 0) -> range:
    first = int(nodes[node]["first"])
    return range(first, first + int(nodes[node]["count"]))


@pytest.mark.parametrize("seed", range(4))
def test_the_position_comes_back(seed: int) -> None:
    """A search leaves the stones and all that is known of them as they were."""
    core = Core(Variant(), random_moves(seed, 8))
    before = core.state.copy()
    nodes, work = new_tree(1 << 15)
    run_simulations(core.state, core.tables, nodes, work, 500)
    for field in ("side", "stones", "codes", "counts", "masks", "hash", "made"):
        assert np.array_equal(core.state[field], before[field]), field


def test_a_tree_adds_up() -> None:
    """A node was visited once for itself, and for its children; they divide one prior.

    Visits also end in those all of whose moves lose. No total is beyond what the visits add up to.
    """
    nodes, used = grown(random_moves(1, 6), 3_000)
    for node in range(used):
        below = children(nodes, node)
        assert abs(nodes[node]["total"]) <= nodes[node]["visits"] + 1e-9
        if any(nodes[child]["proven"] == 0 for child in below) and nodes[node]["proven"] == 0:
            visits = sum(nodes[child]["visits"] for child in below)
            assert nodes[node]["visits"] == visits + 1
        priors = [float(nodes[child]["prior"]) for child in below]
        assert not priors or sum(priors) == pytest.approx(1, abs=1e-6)
        assert priors == sorted(priors, reverse=True)
        assert len(priors) <= WIDTH


def test_an_open_three_wins() -> None:
    """The root is decided when one move leads to an open four, and no more visits are spent."""
    nodes, _ = grown(cells(OPEN_THREE), 100_000)
    assert nodes[0]["proven"] == -1  # whoever moved last has lost
    assert nodes[0]["visits"] < 1_000
    winners = {int(nodes[child]["cell"]) for child in children(nodes) if nodes[child]["proven"] > 0}
    assert winners
    assert winners <= set(cells("f8 g8 k8 l8"))


def test_a_four_is_blocked() -> None:
    """There is one move where the opponent would make five."""
    nodes, _ = grown(cells("h8 a1 i8 a3 j8 g8 k8"), 50)
    assert [int(nodes[child]["cell"]) for child in children(nodes)] == cells("l8")
    assert nodes[0]["is_complete"] == 1


def test_a_lost_position_is_proven_lost() -> None:
    """With two cells where the opponent makes five, every reply loses."""
    nodes, _ = grown(cells("h8 a1 i8 a3 j8 a5 k8"), 50)
    assert nodes[0]["proven"] == 1


def test_a_full_tree_goes_on_counting() -> None:
    """Without room for more nodes leaves are valued again and again."""
    nodes, used = grown(random_moves(5, 6), 2_000, capacity=400)
    assert used <= 400
    assert nodes[0]["visits"] == 2_000 or nodes[0]["proven"]


def test_a_subtree_is_the_tree_below_a_node() -> None:
    """All that was learnt about a move is kept when it is played."""
    nodes, _ = grown(random_moves(1, 6), 3_000)
    root = max(children(nodes), key=lambda child: nodes[child]["visits"])
    target, work = new_tree(len(nodes))
    take_subtree(nodes, target, work, root)
    pairs, seen = [(root, 0)], 0
    while pairs:
        old, new = pairs.pop()
        seen += 1
        for field in ("cell", "visits", "total", "prior", "proven", "count"):
            assert nodes[old][field] == target[new][field]
        pairs += zip(children(nodes, old), children(target, new), strict=True)
    assert seen == work.used


def test_a_full_board_is_a_draw() -> None:
    """A position without an empty cell is worth nothing to either side."""
    variant = Variant(width=5, height=5)
    board = Board.from_moves(
        [row * 5 + column for column in (0, 2, 1, 3, 4) for row in range(5)], variant
    )
    assert board.is_full
    assert board.winner is None
    core = Core(variant, board.moves)
    nodes, work = new_tree(100)
    run_simulations(core.state, core.tables, nodes, work, 10)
    assert (nodes[0]["visits"], nodes[0]["total"], nodes[0]["count"]) == (10, 0, 0)

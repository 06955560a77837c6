"""Monte-Carlo tree search led by patterns."""

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest

from meijin.bots.core import puct
from meijin.bots.core.jit import new_record
from meijin.bots.core.lookup import tables_of
from meijin.bots.core.puct import WIDTH, new_tree, run_simulations, take_subtree
from meijin.bots.core.state import STATE, init, make
from meijin.game import Board, Variant, parse_opening

TABLES = tables_of(Variant())

OPEN_THREE = "h8 h9 i8 i9 j8 a1"  # black to move makes an open four


def state_after(moves: Sequence[int]) -> np.record:
    """The core's position after some moves."""
    state = new_record(STATE)
    init(state, TABLES)
    for cell in moves:
        make(state, TABLES, cell)
    return state


def cells(text: str) -> list[int]:
    """The cells of moves as people write them."""
    return list(parse_opening(text, Variant()))


def random_moves(seed: int, count: int) -> list[int]:
    """Moves near the middle that end no game."""
    rng, board = Random(seed), Board()
    while len(board.moves) < count and not board.is_over:
        cell = rng.randrange(4, 11) * 15 + rng.randrange(4, 11)
        if board.is_legal(cell):
            board.play(cell)
    if board.is_over:
        board.undo()
    return list(board.moves)


def grown(moves: Sequence[int], visits: int, capacity: int = 1 << 17) -> tuple[np.ndarray, int]:
    """The tree after so many visits, and how many nodes of it are used."""
    nodes, work = new_tree(capacity)
    run_simulations(state_after(moves), TABLES, nodes, work, visits)
    return nodes, int(work.used)


def children(nodes: np.ndarray, node: int = 0) -> range:
    """The numbers of a node's children."""
    first = int(nodes[node]["first"])
    return range(first, first + int(nodes[node]["count"]))


@pytest.mark.parametrize("seed", range(4))
def test_the_position_comes_back(seed: int) -> None:
    """A search leaves the stones and all that is known of them as they were."""
    moves = random_moves(seed, 8)
    state = state_after(moves)
    before = state.copy()
    nodes, work = new_tree(1 << 15)
    run_simulations(state, TABLES, nodes, work, 500)
    for field in ("side", "stones", "codes", "counts", "masks", "hash", "made"):
        assert np.array_equal(state[field], before[field]), field


def test_visits_add_up() -> None:
    """A node was visited once for itself and once for each visit of its children.

    Visits also end in those all of whose moves lose.
    """
    nodes, used = grown(random_moves(1, 6), 3_000)
    for node in range(used):
        below = children(nodes, node)
        if any(nodes[child]["proven"] == 0 for child in below) and nodes[node]["proven"] == 0:
            visits = sum(nodes[child]["visits"] for child in below)
            assert nodes[node]["visits"] == visits + 1


def test_priors_share_one() -> None:
    """Every node's children divide the same prior, the most promising first."""
    nodes, used = grown(random_moves(2, 6), 300)
    for node in range(used):
        priors = [float(nodes[child]["prior"]) for child in children(nodes, node)]
        if priors:
            assert sum(priors) == pytest.approx(1, abs=1e-6)
            assert priors == sorted(priors, reverse=True)
            assert len(priors) <= WIDTH


def test_values_are_between_loss_and_win() -> None:
    """No total is beyond what the visits can add up to."""
    nodes, used = grown(random_moves(3, 8), 2_000)
    for node in nodes[:used]:
        assert abs(node["total"]) <= node["visits"] + 1e-9


def test_an_open_three_wins() -> None:
    """The root's best child is proven when one move leads to an open four."""
    nodes, _ = grown(cells(OPEN_THREE), 200)
    assert nodes[0]["proven"] == -1  # whoever moved last has lost
    winners = {int(nodes[child]["cell"]) for child in children(nodes) if nodes[child]["proven"] > 0}
    assert winners <= set(cells("g8")) | set(cells("k8")) | set(cells("f8")) | set(cells("l8"))
    assert winners


def test_a_four_is_blocked() -> None:
    """There is one move where the opponent would make five."""
    nodes, _ = grown(cells("h8 a1 i8 a3 j8 g8 k8"), 50)
    assert [int(nodes[child]["cell"]) for child in children(nodes)] == cells("l8")
    assert nodes[0]["is_complete"] == 1


def test_a_lost_position_is_proven_lost() -> None:
    """With two cells where the opponent makes five, every reply loses."""
    nodes, _ = grown(cells("h8 a1 i8 a3 j8 a5 k8"), 50)
    assert nodes[0]["proven"] == 1


def test_a_solved_tree_stops() -> None:
    """No visit is spent on a position that is decided."""
    nodes, _ = grown(cells(OPEN_THREE), 100_000)
    assert nodes[0]["visits"] < 1_000


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
    tables = tables_of(Variant(width=5, height=5))
    columns = [0, 2, 1, 3, 4]
    order = [row * 5 + column for column in columns for row in range(5)]
    board = Board(Variant(width=5, height=5))
    moves = iter(order)
    state = new_record(STATE)
    init(state, tables)
    while not board.is_over:
        cell = next(moves)
        board.play(cell)
        make(state, tables, cell)
    assert board.is_draw
    nodes, work = new_tree(100)
    puct.run_simulations(state, tables, nodes, work, 10)
    assert (nodes[0]["visits"], nodes[0]["total"], nodes[0]["count"]) == (10, 0, 0)

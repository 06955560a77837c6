"""Monte-Carlo tree search in its pure form."""

from collections.abc import Sequence
from random import Random

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from meijin.bots.core.uct import (
    DRAW,
    copy_position,
    new_board,
    new_tree,
    place_stone,
    play_out,
    random_below,
    run_simulations,
    select_child,
    set_up,
)
from meijin.game import CARO, CARO_EXACT, GOMOKU, STANDARD, Board, Variant

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
    found, child = [], int(nodes[node]["first"])
    while child >= 0:
        found.append(child)
        child = int(nodes[child]["next"])
    return found


def best_child(nodes: np.ndarray) -> int:
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


def test_every_move_is_tried_before_one_is_tried_again() -> None:
    """The first visits of a node go to its untried moves."""
    nodes = searched([112], 224)
    tried = {int(nodes[child]["cell"]) for child in children(nodes)}
    assert tried == set(range(225)) - {112}
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


VARIANTS = [
    Variant(),
    Variant(rule=STANDARD),
    Variant(width=5, height=22),
    Variant(width=22, height=22, rule=STANDARD),
    Variant(width=7, height=5),
    Variant(rule=CARO),
    Variant(rule=CARO, width=6, height=4, line=4),
    Variant(rule=CARO_EXACT, width=9, height=9),
    Variant(width=3, height=3, line=3),
    Variant(width=6, height=4, line=4),
]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=25)
def test_stones_win_as_the_rules_say(variant: Variant, seed: int) -> None:
    """Random games end with the same move as on the board of the rules."""
    cells = Random(seed).sample(range(variant.cells), variant.cells)
    board, bits = Board(variant), new_board(variant)
    for cell in cells:
        board.play(cell)
        assert place_stone(bits, cell) == (board.winner is not None)
        assert sorted(bits.empty[: bits.count]) == sorted(
            set(range(variant.cells)) - {*board.moves}
        )
        if board.is_over:
            break


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_a_playout_ends(variant: Variant) -> None:
    """Somebody wins with a stone on the board, or the board is full."""
    root, board = new_board(variant), new_board(variant, seed=5)
    seen = set()
    for _ in range(200):
        copy_position(board, root)
        winner = play_out(board)
        seen.add(winner)
        assert winner != DRAW or board.count == 0
        assert winner == DRAW or winner == 1 - board.side
    assert len(seen) > 1


def test_draws_are_even() -> None:
    """Every number below the limit comes as often as the others, within five deviations."""
    board = new_board(Variant())
    counts = np.bincount([random_below(board, 7) for _ in range(7000)], minlength=7)
    assert len(counts) == 7
    assert abs(counts - 1000).max() < 5 * 1000**0.5


def test_a_copied_position_is_another_board() -> None:
    """Playing on the copy leaves the source as it was."""
    root, board = new_board(Variant()), new_board(Variant())
    set_up(root, [112, 113])
    before = root.stones.copy()
    copy_position(board, root)
    play_out(board)
    assert (root.stones == before).all()
    assert root.count == 223

"""Games played to their end by chance."""

from random import Random

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from meijin.bots.core.playout import (
    DRAW,
    copy_position,
    has_run,
    new_board,
    place_stone,
    play_out,
    random_below,
    set_up,
)
from meijin.game import CARO, CARO_EXACT, STANDARD, Board, Variant

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


@pytest.mark.parametrize("exact", [0, 1])
@given(line=st.integers(0, 2**22 - 1), length=st.integers(3, 6))
def test_rows_of_bits(line: int, length: int, exact: int) -> None:
    """A row is found wherever it lies; an exact one has nothing at its ends."""
    rows = [len(row) for row in f"{line:b}".split("0")]
    wanted = any(row == length if exact else row >= length for row in rows)
    assert has_run(np.uint64(line), length, exact) == wanted


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


def test_a_seed_draws_the_same_games() -> None:
    """Two boards with one seed agree, and another seed differs."""

    def stones(seed: int) -> list[int]:
        board = new_board(Variant(), seed)
        play_out(board)
        return sorted(board.empty[: board.count])

    assert stones(3) == stones(3)
    assert stones(3) != stones(4)


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

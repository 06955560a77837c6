"""What pruning saves, counted."""

from __future__ import annotations

from random import Random

import pytest
from counted_search import POLICY, RANDOM, SCAN
from headlines import Count, Counter, counts, rows

from meijin.bots.core.evaluate import WIN_SCORE, evaluate
from meijin.bots.core.jit import new_record
from meijin.bots.core.lookup import tables_of
from meijin.bots.core.state import STATE, init, make, undo
from meijin.bots.reference.gomoku import MIDGAME
from meijin.game import FREESTYLE, STANDARD, Board, Rule, Variant

MOST = 1_000_000


def position(seed: int, rule: Rule = FREESTYLE) -> Board:
    """A small board with so many stones that fives are near, and no winner."""
    variant = Variant(rule, 6, 5)
    board = Board(variant)
    for cell in Random(seed).sample(range(variant.cells), 17):
        board.play(cell)
        if board.winner is not None:
            board.undo()
    return board


class Evaluated:
    """A board, and the same stones in the core's state."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self._state, self._tables = new_record(STATE), tables_of(board.variant)
        init(self._state, self._tables)
        for cell in board.moves:
            make(self._state, self._tables, cell)

    def visit(self, depth: int, ply: int = 0) -> tuple[int, int]:
        """Minimax over every cell: the value to the side to move, and the nodes."""
        board = self.board
        if board.winner is not None:
            return -(WIN_SCORE - ply), 1
        if board.is_full or depth == 0:
            return (0 if board.is_full else int(evaluate(self._state, self._tables))), 1
        best, nodes = -WIN_SCORE, 1
        for cell in board.legal_cells():
            board.play(cell)
            make(self._state, self._tables, cell)
            value, below = self.visit(depth - 1, ply + 1)
            undo(self._state, self._tables)
            board.undo()
            best, nodes = max(best, -value), nodes + below
        return best, nodes


@pytest.mark.parametrize("rule", [FREESTYLE, STANDARD])
@pytest.mark.parametrize("seed", range(4))
def test_minimax_equals_plain_python(seed: int, rule: Rule) -> None:
    """The compiled minimax finds the value of a few lines of Python, in as many positions."""
    board = position(seed, rule)
    counter = Counter(board.moves, board.variant, wide=True)
    assert counter.moves == len(board.legal_cells())
    for depth in (1, 2, 3):
        count = counter.minimax(depth)
        assert (count.value, count.nodes) == Evaluated(board).visit(depth)


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_all_agree(seed: int, wide: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Every search finds one value, and pruning visits no more than minimax."""
    board = position(seed)
    counter = Counter(board.moves, board.variant, wide=wide)
    for depth in (2, 3, 4):
        found = counts(counter, depth, MOST)
        assert list(found) == ["minimax", "scan", "random", "ordered", "table"]
        assert len({count.value for count in found.values()}) == 1
        for name in ("scan", "random", "ordered"):
            assert found[name].nodes <= found["minimax"].nodes
        assert all(0 < count.leaves < count.nodes for count in found.values())


def test_all_agree_in_the_middle_game() -> None:
    """They do so where no five is near and values are many."""
    counter = Counter(MIDGAME, wide=False)
    found = counts(counter, 3, MOST)
    assert found["ordered"].nodes < found["random"].nodes < found["scan"].nodes


def test_a_full_board_ends_a_line() -> None:
    """Looking further than the board has room for changes nothing."""
    board = Board(Variant(width=5, height=5))
    for cell in (0, 1, 2, 3, 5, 4, 6, 8, 7, 9, 11, 10, 12, 13, 15, 14, 16, 17, 18, 20, 22, 21):
        board.play(cell)
    assert not board.is_over
    counter = Counter(board.moves, board.variant, wide=True)
    assert counter.minimax(3).value == counter.minimax(9).value == Evaluated(board).visit(9)[0]


def test_same_order_again() -> None:
    """The random order is drawn from a fixed seed, so its count is exact too."""
    board = position(1)
    first, second = (
        Counter(board.moves, board.variant, wide=True).alphabeta(3, RANDOM).nodes for _ in range(2)
    )
    assert first == second


def test_orders_differ() -> None:
    """Each order visits other positions."""
    board = position(2)
    counter = Counter(board.moves, board.variant, wide=True)
    assert len({counter.alphabeta(4, order).nodes for order in (SCAN, RANDOM, POLICY)}) == 3


def test_disagreement_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that finds another value stops the benchmark."""
    board = position(1)
    counter = Counter(board.moves, board.variant, wide=True)
    monkeypatch.setattr(counter, "tabled", lambda _depth: Count(1, 1, 1, 0.0))
    with pytest.raises(RuntimeError, match=r"at depth 2 ordered finds .* and table 1"):
        counts(counter, 2, MOST)


def test_rows() -> None:
    """There is a row for each search and each mark; what is out of reach is estimated."""
    board = position(1)
    counter = Counter(board.moves, board.variant, wide=True)
    moves = len(board.legal_cells())
    made = {row["search"]: row["nodes"] for row in rows("full", counter, 2, MOST)}
    assert made["bound"] == 2 * moves - 1
    assert made["n^(1/2)"] == round(int(made["minimax"]) ** 0.5)
    made = {row["search"]: row["nodes"] for row in rows("full", counter, 2, 1)}
    assert "minimax" not in made
    assert made["minimax (estimated)"] == moves**2

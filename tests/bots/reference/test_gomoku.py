"""Gomoku searched at full width and near the stones, and what runs of stones are worth."""

from random import Random

import pytest
from tests.bots.conftest import cells
from tests.bots.reference.games import outcome, tic_tac_toe
from tests.game.boards import set_up

from meijin.bots.reference import Ordering, Table, alphabeta, minimax, negamax, scan, shuffled
from meijin.bots.reference.gomoku import (
    MIDGAME,
    NEAR,
    NEAR_PLIES,
    WIN,
    GomokuGame,
    PlayoutGame,
    StonesGame,
    board_worth,
    by_promise,
    cell_worth,
    cells_near,
    promise,
    run_worth,
)
from meijin.game import TIC_TAC_TOE, Board, Color, Variant

SMALL = Variant(width=5, height=5, line=4)


def small_board(seed: int) -> Board:
    """A board of 5x5 with six stones and nobody the winner."""
    rng, board = Random(seed), Board(SMALL)
    for _ in range(6):
        board.play(rng.choice(board.legal_cells()))
    assert board.winner is None
    return board


@pytest.mark.parametrize(
    ("board", "depth", "reach"),
    [
        (Board.from_moves(MIDGAME), 2, NEAR),
        *((small_board(seed), 3, reach) for seed in range(3) for reach in (None, 1)),
    ],
)
def test_searches_agree(board: Board, depth: int, reach: int | None) -> None:
    """Every search finds the value of plain minimax, with and without a table."""
    game, before = GomokuGame(board, reach=reach), board.copy()
    plain = minimax(game, depth)
    orders: list[Ordering[int]] = [by_promise(board), scan, shuffled(Random(1))]
    nodes = []
    for order in orders:
        table: Table = {}
        one, two = alphabeta(game, depth, order=order), negamax(game, depth, order=order)
        tabled = negamax(game, depth, order=order, table=table)
        assert one.value == two.value == tabled.value == plain.value
        assert {*one.moves, *two.moves, *tabled.moves} <= set(plain.moves)
        assert tabled.nodes <= plain.nodes
        nodes.append(two.nodes)
    assert nodes[0] < nodes[1] < plain.nodes
    assert board == before


def test_full_width() -> None:
    """Every empty cell is a move: minimax visits 1 + 215 + 215 * 214 positions."""
    assert minimax(GomokuGame(Board.from_moves(MIDGAME)), 2).nodes == 46_226


def test_midgame_is_undecided() -> None:
    """Nobody wins it within three plies, whoever moves."""
    board = Board.from_moves(MIDGAME)
    for _ in range(2):
        found = negamax(GomokuGame(board, reach=NEAR), 3, order=by_promise(board))
        assert abs(found.value) < WIN / 2
        board.undo()


def test_table_saves_positions() -> None:
    """The same stones in another order are looked up."""
    board, table = small_board(1), Table()
    without = negamax(GomokuGame(board), 4)
    assert negamax(GomokuGame(board), 4, table=table).nodes < without.nodes


def test_either_side_maximises() -> None:
    """The value is the side's that is said to maximise."""
    board = Board.from_moves(MIDGAME)
    black, white = (minimax(GomokuGame(board, maximiser=color), 1) for color in Color)
    assert (black.value, black.moves) == (-white.value, white.moves)
    for color in Color:
        game = StonesGame(Board.from_moves((0, 3, 1, 4, 2), TIC_TAC_TOE), outcome, maximiser=color)
        assert game.evaluate() == (1 if color is Color.BLACK else -1)
        assert game.maximiser_to_move is (game.board.side_to_move is color)


def test_cells_near() -> None:
    """A square around each stone, cut at the edges; searches by playouts leave it after a while."""
    board = Board.from_moves([0])
    assert cells_near(board, 2) == {row * 15 + column for row in range(3) for column in range(3)}
    assert len(cells_near(Board.from_moves([112]), 2)) == 25
    assert cells_near(Board(), 2) == set()
    assert list(GomokuGame(board, reach=1).moves()) == [1, 15, 16]
    game = PlayoutGame(board)
    for _ in range(NEAR_PLIES):
        assert list(game.moves()) == sorted(cells_near(board, NEAR) - set(board.moves))
        game.play(game.moves()[0])
    assert list(game.moves()) == board.legal_cells()


@pytest.mark.parametrize(
    ("count", "ends", "expected"),
    [(1, 2, 1), (3, 2, 9), (3, 1, 2.25), (4, 1, 4), (4, 0, 0), (5, 0, WIN), (6, 2, WIN)],
)
def test_run_worth(count: int, ends: int, expected: float) -> None:
    """The square, a quarter of it with one end blocked, nothing with both; five is the most."""
    assert run_worth(count, ends) == expected


@pytest.mark.parametrize(
    ("rows", "name", "expected"),
    [
        ("..xx...", "e15", 9),
        (".oxx...", "e15", 2.25),
        ("xx.....", "c15", 2.25),
        (".oxx.o.", "e15", 0),
        ("..x.x..", "d15", 9),
        ("oxxxx..", "f15", WIN),
        ("..xx...", "f15", 0),
        (".x./...", "b14", 1),
        ("..xx.../......./.....x./.....x.", "e15", 9),
        ("...x.../..xx.../......./.......", "d13", 2.25 + 4),
    ],
)
def test_cell_worth(rows: str, name: str, expected: float) -> None:
    """The runs that a stone would make, added up; far away it makes none."""
    assert cell_worth(set_up(rows), cells(name)[0], Color.BLACK) == expected


def test_worth() -> None:
    """A cell's counts both sides; a board's counts each run once, white's against black."""
    board = set_up("x....../.x...../......./.....o./.....o./.....o.")
    assert [promise(board, cell) for cell in cells("c13 f9")] == [2.25, 16]
    pair = set_up("......./..xx.../......./......./.o.....")
    lone = 1 * 3  # three directions in which a stone of the pair has no neighbour
    assert board_worth(pair) == 4 + 2 * lone - 4
    assert board_worth(Board()) == 0
    assert cell_worth(set_up("xx./...", TIC_TAC_TOE), 2, Color.BLACK) == WIN


def test_win_is_worth_the_most() -> None:
    early = Board.from_moves([0, 15, 1, 16, 2, 17, 3, 18, 4])
    late = Board.from_moves([0, 15, 1, 16, 2, 17, 3, 18, 100, 101, 4])
    assert board_worth(early) > board_worth(late) > WIN / 2
    assert board_worth(Board.from_moves([100, 0, 15, 1, 17, 2, 19, 3, 21, 4])) < -WIN / 2


def test_key_forgets_the_order() -> None:
    """Two ways to the same stones have one key; another side to move has another."""
    assert tic_tac_toe(0, 4, 8).key == tic_tac_toe(8, 4, 0).key != tic_tac_toe(0, 4).key

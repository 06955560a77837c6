"""Gomoku searched at full width and near the stones."""

from random import Random

import pytest

from meijin.bots.reference import Ordering, Table, alphabeta, minimax, negamax, scan, shuffled
from meijin.bots.reference.gomoku import (
    MIDGAME,
    NEAR,
    NEAR_PLIES,
    GomokuGame,
    PlayoutGame,
    by_promise,
    cells_near,
    centre,
    choose,
)
from meijin.bots.reference.runs import WIN
from meijin.game import GOMOKU, Board, Color, Variant, parse_cell

SMALL = Variant(width=5, height=5, line=4)


def small_board(seed: int) -> Board:
    """A board of 5x5 with six stones and nobody the winner."""
    rng = Random(seed)
    board = Board(SMALL)
    for _ in range(6):
        board.play(rng.choice(board.legal_cells()))
    assert board.winner is None
    return board


def assert_all_agree(board: Board, depth: int, reach: int | None) -> None:
    """Every search finds the value of plain minimax, with and without a table."""
    game = GomokuGame(board, reach=reach)
    before = board.copy()
    plain = minimax(game, depth)
    nodes = {}
    orders: dict[str, Ordering[int]] = {
        "scan": scan,
        "random": shuffled(Random(1)),
        "ordered": by_promise(board),
    }
    for name, order in orders.items():
        table: Table = {}
        one, two = alphabeta(game, depth, order=order), negamax(game, depth, order=order)
        tabled = negamax(game, depth, order=order, table=table)
        assert one.value == two.value == tabled.value == plain.value
        assert {*one.moves, *two.moves, *tabled.moves} <= set(plain.moves)
        assert tabled.nodes <= plain.nodes
        nodes[name] = two.nodes
    assert nodes["ordered"] < nodes["scan"] < plain.nodes
    assert board == before


def test_searches_agree_at_two_plies() -> None:
    """On the midgame position, over the cells near the stones."""
    assert_all_agree(Board.from_moves(MIDGAME), 2, NEAR)


def test_searches_agree_at_full_width() -> None:
    """As above, over every empty cell; minimax visits 1 + 215 + 215 * 214 positions."""
    board = Board.from_moves(MIDGAME)
    assert_all_agree(board, 2, None)
    assert minimax(GomokuGame(board), 2).nodes == 46_226


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("reach", [None, 1])
def test_searches_agree_at_three_plies(seed: int, reach: int | None) -> None:
    """On a small board, where a table has transpositions to find."""
    assert_all_agree(small_board(seed), 3, reach)


def test_midgame_is_undecided() -> None:
    """Nobody wins it within three plies, whoever moves."""
    board = Board.from_moves(MIDGAME)
    for _ in range(2):
        found = negamax(GomokuGame(board, reach=NEAR), 3, order=by_promise(board))
        assert abs(found.value) < WIN / 2
        board.undo()


def test_table_saves_positions() -> None:
    """The same stones in another order are looked up."""
    board = small_board(1)
    table: Table = {}
    without = negamax(GomokuGame(board), 4)
    assert negamax(GomokuGame(board), 4, table=table).nodes < without.nodes
    assert table


def test_begins_in_the_centre() -> None:
    """The first stone goes to tengen, at any depth."""
    assert choose(Board(), depth=3) == centre(GOMOKU) == parse_cell("h8", GOMOKU)


@pytest.mark.parametrize("reach", [None, NEAR])
def test_wins_and_blocks(reach: int | None) -> None:
    """Four in a row become five; an opponent's are stopped."""
    black = [parse_cell(name, GOMOKU) for name in ("h8", "h9", "h10", "h11")]
    white = [parse_cell(name, GOMOKU) for name in ("h7", "a1", "c3", "o15")]
    cells = [cell for pair in zip(black, white, strict=True) for cell in pair]
    h12 = parse_cell("h12", GOMOKU)
    assert choose(Board.from_moves(cells), 2, reach=reach) == h12
    blocker = Board.from_moves([*cells, parse_cell("o1", GOMOKU)])
    assert blocker.side_to_move is Color.WHITE
    assert choose(blocker, 2, reach=reach) == h12


def test_engine_maximises_with_either_colour() -> None:
    """The value is the side's that is said to maximise."""
    board = Board.from_moves(MIDGAME)
    black, white = (minimax(GomokuGame(board, maximiser=color), 1) for color in Color)
    assert black.value == -white.value
    assert black.moves == white.moves


def test_win_ahead_is_seen() -> None:
    """A won position is worth nearly the most there is."""
    board = Board.from_moves([112, 0, 113, 2, 114, 4, 115, 6])
    assert minimax(GomokuGame(board), 1).value > WIN / 2


def test_cells_near() -> None:
    """A square around each stone, cut at the edges."""
    board = Board.from_moves([0])
    assert cells_near(board, 2) == {row * 15 + column for row in range(3) for column in range(3)}
    assert len(cells_near(Board.from_moves([112]), 2)) == 25
    assert cells_near(Board(), 2) == set()
    assert list(GomokuGame(board, reach=1).moves()) == [1, 15, 16]


def test_playouts_leave_the_stones() -> None:
    """The first plies of a search stay near the stones, the others go anywhere."""
    board = Board.from_moves([112])
    game = PlayoutGame(board)
    for _ in range(NEAR_PLIES):
        assert list(game.moves()) == sorted(cells_near(board, NEAR) - set(board.moves))
        game.play(game.moves()[0])
    assert list(game.moves()) == board.legal_cells()

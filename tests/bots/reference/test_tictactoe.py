"""Tic-tac-toe, small enough to try every line."""

from collections.abc import Iterator
from random import Random

import pytest

from meijin.bots.reference import Table, minimax, negamax
from meijin.bots.reference.stones import StonesGame
from meijin.bots.reference.tictactoe import FULL_DEPTH, Mode, Player, outcome
from meijin.game import TIC_TAC_TOE, Board, Color


def board_after(*cells: int) -> Board:
    """The board after these moves, black's first."""
    return Board.from_moves(cells, TIC_TAC_TOE)


def positions(least: int) -> Iterator[Board]:
    """Every position that a game can reach, one from each set of stones, from ply `least` on."""
    seen: set[bytes] = set()
    found = [Board(TIC_TAC_TOE)]
    while found:
        board = found.pop()
        if board.ply >= least:
            yield board
        for cell in board.legal_cells():
            after = board.copy()
            after.play(cell)
            if bytes(after.stones) not in seen:
                seen.add(bytes(after.stones))
                found.append(after)


@pytest.mark.parametrize("color", Color)
def test_never_loses(color: Color) -> None:
    """Against every line that an opponent can play, with either colour."""
    player = Player(Random(3))
    seen: set[bytes] = set()

    def follow(board: Board) -> None:
        assert board.winner is not color.other, f"lost:\n{board}"
        if board.is_over or bytes(board.stones) in seen:
            return
        seen.add(bytes(board.stones))
        cells = [player.choose(board)] if board.side_to_move is color else board.legal_cells()
        for cell in cells:
            board.play(cell)
            follow(board)
            board.undo()

    follow(Board(TIC_TAC_TOE))
    assert len(seen) > 50


def test_both_modes_return_the_same_values() -> None:
    """On each of the positions from the third ply on, and the same with a table."""
    table: Table = {}
    count = 0
    for board in positions(least=3):
        game = StonesGame(board, outcome)
        plain, pruned = minimax(game), negamax(game, table=table)
        assert plain.value == pruned.value == negamax(game).value
        assert pruned.moves == plain.moves[:1]
        count += 1
    assert count == 5478 - 1 - 9 - 72


def test_every_line_is_visited() -> None:
    """Plain minimax sees the 255,168 games that there are, and the first move draws."""
    found = minimax(StonesGame(Board(TIC_TAC_TOE), outcome))
    assert (found.value, found.leaves) == (0, 255_168)
    assert found.moves == tuple(range(9))


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("depth", [1, 4, FULL_DEPTH])
def test_wins_what_is_won(mode: Mode, depth: int) -> None:
    """White's two in a row become three; looking further ahead, any sure win will do."""
    board = board_after(0, 3, 1, 4, 8)
    player = Player(Random(1), mode, depth)
    while not board.is_over:
        assert player.search(board).value == -1
        board.play(player.choose(board))
    assert board.winner is Color.WHITE
    assert depth > 1 or board.ply == 6


@pytest.mark.parametrize("mode", Mode)
def test_equal_moves_are_drawn(mode: Mode) -> None:
    """At the root one of the best is played, each now and then; the worse ones never."""
    board = board_after(4)
    corners = {0, 2, 6, 8}  # every edge loses to best play
    drawn = {Player(Random(seed), mode, depth=6).choose(board) for seed in range(20)}
    assert drawn == corners


@pytest.mark.parametrize("mode", Mode)
def test_seed_decides(mode: Mode) -> None:
    """The same seed, the same game."""

    def cells(seed: int) -> list[int]:
        player = Player(Random(seed), mode, depth=4)
        board = Board(TIC_TAC_TOE)
        while not board.is_over:
            board.play(player.choose(board))
        return list(board.moves)

    assert cells(5) == cells(5)
    assert len({tuple(cells(seed)) for seed in range(5)}) > 1


@pytest.mark.parametrize("mode", Mode)
def test_evaluation_is_pluggable(mode: Mode) -> None:
    """One that likes the centre plays there, a ply deep."""

    def centre(board: Board) -> float:
        return {None: 0, Color.BLACK: 1, Color.WHITE: -1}[board.stone(4)]

    assert Player(Random(1), mode, 1, centre).choose(Board(TIC_TAC_TOE)) == 4
    assert Player(Random(1), mode, 1, centre).choose(board_after(0)) == 4


def test_board_is_left_as_found() -> None:
    """A search takes everything back."""
    board = board_after(0, 4)
    before = board.copy()
    Player(Random(1)).choose(board)
    assert board == before

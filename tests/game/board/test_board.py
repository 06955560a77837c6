"""Boards: legal moves, taking back, printed form."""

import copy
import pickle
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meijin.game import (
    FREESTYLE,
    GOMOKU,
    STANDARD,
    TIC_TAC_TOE,
    Board,
    Color,
    ForbiddenMoveError,
    IllegalMoveError,
    Variant,
)
from meijin.game.rules.rule import Stones

BLACK, WHITE = Color.BLACK, Color.WHITE
SIZES = (GOMOKU, TIC_TAC_TOE, Variant(width=5, height=5), Variant(STANDARD, 22, 22))
NON_SQUARE = Variant(width=7, height=5)


class NoCorners:
    """A rule that forbids black the corner a15, to stand in for renju."""

    name = "no corners"
    has_forbidden_cells = True
    needs_five = False

    def wins(self, board: Stones, cell: int) -> bool:
        return FREESTYLE.wins(board, cell)

    def forbids(self, board: Stones, cell: int, color: Color) -> bool:  # noqa: ARG002 - see Rule
        return cell == 0 and color is Color.BLACK

    def foul(self, board: Stones, cell: int) -> str:  # noqa: ARG002 - see Rule
        return "a corner"


def random_game(variant: Variant, seed: int, plies: int) -> Board:
    board = Board(variant)
    for cell in random.Random(seed).sample(range(variant.cells), variant.cells)[:plies]:
        if board.is_over:
            break
        board.play(cell)
    return board


def drawn_cells(variant: Variant) -> list[int]:
    """A full game in which no side ever has more than two stones in a row."""
    sides: dict[bool, list[int]] = {True: [], False: []}
    for cell in range(variant.cells):
        row, column = divmod(cell, variant.width)
        sides[(column + 2 * row) % 4 < 2].append(cell)
    black, white = sorted(sides.values(), key=len, reverse=True)
    pairs = [cell for pair in zip(black, white, strict=False) for cell in pair]
    return pairs + black[len(white) :]


random_games = st.builds(random_game, st.sampled_from(SIZES), st.integers(), st.integers(0, 500))


@given(random_games)
def test_stones_follow_from_moves(board: Board) -> None:
    """Each cell has the stone of the ply it was played at; the others are legal in a running game."""
    expected = {cell: (BLACK, WHITE)[ply % 2] for ply, cell in enumerate(board.moves)}
    assert board.side_to_move is (BLACK, WHITE)[board.ply % 2]
    assert all(board.stone(cell) is expected.get(cell) for cell in range(board.variant.cells))
    empty = [] if board.is_over else sorted(set(range(board.variant.cells)) - set(board.moves))
    assert board.legal_cells() == empty
    around = range(-30, board.variant.cells + 30)
    assert [cell for cell in around if board.is_legal(cell)] == empty


@given(random_games, st.data())
def test_undo_restores(board: Board, data: st.DataObject) -> None:
    """A board after taking moves back equals the board before they were played."""
    cells = list(board.moves)
    count = data.draw(st.integers(0, len(cells)))
    assert [board.undo() for _ in range(count)] == cells[len(cells) - count :][::-1]
    assert board == Board.from_moves(cells[: len(cells) - count], board.variant)


def test_undo_without_moves() -> None:
    with pytest.raises(IndexError, match="no move to take back"):
        Board().undo()


@pytest.mark.parametrize(
    ("moves", "cell", "reason"),
    [
        *(([0], cell, f"cell {cell} is off the 15x15 board") for cell in (225, 10**9, -1, -225)),
        ([112], 112, "h8 is occupied"),
        ([0, 5, 1, 6, 2, 7, 3, 8, 4], 100, "no move at k9: the game is over"),
    ],
)
def test_illegal_move(moves: list[int], cell: int, reason: str) -> None:
    """It is refused and changes nothing; the error crosses process borders."""
    board = Board.from_moves(moves)
    with pytest.raises(IllegalMoveError, match=f"^{reason}") as error:
        board.play(cell)
    assert board == Board.from_moves(moves)
    copied = pickle.loads(pickle.dumps(error.value))
    assert (copied.cell, str(copied)) == (cell, str(error.value))


def test_forbidden_cell() -> None:
    """A cell that the rule forbids is not legal, for the side that it is forbidden to."""
    board = Board(Variant(NoCorners()))
    assert not board.is_legal(0)
    assert board.legal_cells() == list(range(1, 225))
    reason = "a15 is forbidden to black by the no corners rule: a corner"
    with pytest.raises(ForbiddenMoveError, match=f"^{reason}$"):
        board.play(0)
    board.play(1)
    board.play(0)
    assert board.stone(0) is WHITE


def test_nothing_left_but_forbidden_cells() -> None:
    """With forbidden cells alone the side to move has no move, and the game is a draw."""
    board = Board.from_moves((1, 2, 3, 4, 5, 7, 6, 8), Variant(NoCorners(), 3, 3, line=3))
    assert board.is_blocked
    assert (board.is_over, board.winner) == (True, None)
    assert board.legal_cells() == []
    with pytest.raises(IllegalMoveError, match="the game is over"):
        board.play(0)
    board.undo()
    assert not board.is_blocked
    assert board.legal_cells() == [0, 8]


@pytest.mark.parametrize("variant", [*SIZES, NON_SQUARE, replace(NON_SQUARE, draw_at=20)], ids=str)
def test_the_last_stone_makes_a_draw(variant: Variant) -> None:
    """A board is drawn once it is full, or has as many stones as are allowed, and not before."""
    cells = drawn_cells(variant)
    most = variant.most_stones
    board = Board.from_moves(cells[: most - 1], variant)
    assert (board.is_over, board.plies_left) == (False, 1)
    board.play(cells[most - 1])
    assert board.is_full
    assert board.is_over
    assert (board.winner, board.plies_left, board.legal_cells()) == (None, 0, [])
    with pytest.raises(IllegalMoveError, match="the game is over"):
        board.play(cells[-1])
    board.undo()
    assert not board.is_over


def count_games(board: Board, tally: Counter[Color | None]) -> None:
    for cell in board.legal_cells():
        board.play(cell)
        if board.is_over:
            tally[board.winner] += 1
            assert board.winner is not None or board.is_full
        else:
            count_games(board, tally)
        board.undo()


def test_every_game_of_tic_tac_toe() -> None:
    """Tic-tac-toe has its 255,168 games: 131,184 first wins, 77,904 second, 46,080 draws.

    A line with the last stone, be it of a full board or of those that are allowed, is no draw.
    """
    tally: Counter[Color | None] = Counter()
    count_games(Board(TIC_TAC_TOE), tally)
    assert tally == {BLACK: 131_184, WHITE: 77_904, None: 46_080}
    variant = Variant(width=4, height=3, line=3, draw_at=7)
    board = Board.from_moves([0, 1, 4, 2, 5, 6, 8], variant)
    assert board.winner is BLACK


# -- copies -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "copied", [Board.copy, copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b))]
)
@pytest.mark.parametrize("moves", [(), (0,), (0, 2, 4, 3), (0, 2, 1, 3, 5, 4, 6, 7)])
def test_a_copy_is_independent(moves: tuple[int, ...], copied: Callable[[Board], Board]) -> None:
    """It keeps the side to move and the winner, is as full, and goes its own way."""
    board = Board.from_moves(moves, TIC_TAC_TOE)
    twin = copied(board)
    assert twin == board
    board.play(8)
    assert twin == Board.from_moves(moves, TIC_TAC_TOE)
    twin.play(8)
    assert twin == board
    assert (twin.side_to_move, twin.winner) == (board.side_to_move, board.winner)
    assert twin.is_full is board.is_full


@pytest.mark.parametrize(
    "other",
    [
        Board.from_moves([1, 2, 3], Variant(STANDARD)),
        Board.from_moves([1, 2, 4]),
        Board.from_moves([1, 2]),
        Board.from_moves([3, 2, 1]),
        "a board",
    ],
)
def test_unequal_boards(other: object) -> None:
    """Boards differ by variant, by stones and by the order of moves."""
    assert Board.from_moves([1, 2, 3]) != other


@pytest.mark.parametrize("cell", [-1, 225])
def test_stone_off_the_board(cell: int) -> None:
    with pytest.raises(ValueError, match="off the 15x15 board"):
        Board().stone(cell)


def test_in_words() -> None:
    """The top row is printed first; the repr shows variant, ply and side to move."""
    assert str(Board.from_moves([4, 2, 3], TIC_TAC_TOE)) == "..o\nxx.\n..."
    assert repr(Board.from_moves([0])) == "<Board freestyle 15x15, ply 1, white to move>"

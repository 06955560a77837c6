"""Boards: legal moves, taking back, printed form."""

import copy
import pickle
import random
from collections import Counter
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

SIZES = (GOMOKU, TIC_TAC_TOE, Variant(width=5, height=5), Variant(STANDARD, 22, 22))
TIC_TAC_TOE_WIDE = Variant(width=4, height=3, line=3)
NON_SQUARE = Variant(width=7, height=5)


class NoCorners:
    """A rule that forbids black the corner a15, to stand in for renju."""

    name = "no corners"
    has_forbidden_cells = True
    needs_five = False

    def wins(self, board: Stones, cell: int) -> bool:
        """Judge as freestyle does."""
        return FREESTYLE.wins(board, cell)

    def forbids(self, board: Stones, cell: int, color: Color) -> bool:  # noqa: ARG002 - see Rule
        """Forbid the corner."""
        return cell == 0 and color is Color.BLACK

    def foul(self, board: Stones, cell: int) -> str:  # noqa: ARG002 - see Rule
        """There is one foul."""
        return "a corner"


def random_game(variant: Variant, seed: int, plies: int) -> Board:
    """A board after up to `plies` random moves."""
    cells = random.Random(seed).sample(range(variant.cells), variant.cells)
    board = Board(variant)
    for cell in cells[:plies]:
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


random_games = st.builds(
    random_game, st.sampled_from(SIZES), st.integers(), st.integers(min_value=0, max_value=500)
)


def test_new_board() -> None:
    """A new board is empty, black is to move, and nothing is decided."""
    board = Board()
    assert board.variant == GOMOKU
    assert (board.ply, board.side_to_move, board.winner) == (0, Color.BLACK, None)
    assert not any((board.is_over, board.is_full, board.is_draw))
    assert board.legal_cells() == list(range(225))
    assert all(board.stone(cell) is None for cell in range(225))


def test_sides_take_turns() -> None:
    """Black plays at even plies and white at odd ones."""
    board = Board.from_moves([112, 113])
    assert board.stone(112) is Color.BLACK
    assert board.stone(113) is Color.WHITE
    assert list(board.moves) == [112, 113]
    assert (board.ply, board.side_to_move) == (2, Color.BLACK)


@given(random_games)
def test_stones_follow_from_moves(board: Board) -> None:
    """Each cell holds the stone of the ply it was played at, and all others are empty."""
    expected = {cell: (Color.BLACK, Color.WHITE)[ply % 2] for ply, cell in enumerate(board.moves)}
    assert all(board.stone(cell) is expected.get(cell) for cell in range(board.variant.cells))


@given(random_games)
def test_legal_cells_are_the_empty_ones(board: Board) -> None:
    """The legal cells of a running game are the empty ones, and of a finished one none."""
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
    """An empty board has no move to take back, nor do stones set up count as moves."""
    for board in (Board(), Board.parse("xxx")):
        with pytest.raises(IndexError, match="no move to take back"):
            board.undo()


@pytest.mark.parametrize("cell", [225, 300, 10**9, -1, -225, -1000])
def test_move_off_the_board(cell: int) -> None:
    """A move off the board is refused; negative cells don't count from the end."""
    board = Board.from_moves([0])
    with pytest.raises(IllegalMoveError, match=f"^cell {cell} is off the 15x15 board$") as error:
        board.play(cell)
    assert error.value.cell == cell
    assert board == Board.from_moves([0])


def test_occupied_cell() -> None:
    """A move onto a stone is refused and changes nothing."""
    board = Board.from_moves([112])
    with pytest.raises(IllegalMoveError, match=r"^h8 is occupied$"):
        board.play(112)
    assert board == Board.from_moves([112])


def test_move_after_the_end() -> None:
    """A move after the winning one is refused and changes nothing."""
    cells = [0, 5, 1, 6, 2, 7, 3, 8, 4]
    board = Board.from_moves(cells)
    assert board.winner is Color.BLACK
    with pytest.raises(IllegalMoveError, match="the game is over"):
        board.play(100)
    assert board == Board.from_moves(cells)


def test_forbidden_cell() -> None:
    """A cell that the rule forbids is not legal, for the side that it is forbidden to."""
    board = Board(Variant(NoCorners()))
    assert not board.is_legal(0)
    assert board.legal_cells() == list(range(1, 225))
    with pytest.raises(
        ForbiddenMoveError, match=r"^a15 is forbidden to black by the no corners rule: a corner$"
    ):
        board.play(0)
    board.play(1)
    board.play(0)
    assert board.stone(0) is Color.WHITE


def test_nothing_left_but_forbidden_cells() -> None:
    """With forbidden cells alone the side to move has no move, and the game is a draw."""
    variant = Variant(NoCorners(), 3, 3, line=3)
    board = Board.from_moves((1, 2, 3, 4, 5, 7, 6, 8), variant)
    assert board.is_blocked
    assert board.is_draw
    assert board.legal_cells() == []
    with pytest.raises(IllegalMoveError, match="the game is over"):
        board.play(0)
    board.undo()
    assert not board.is_blocked
    assert board.legal_cells() == [0, 8]


def test_illegal_move_error_survives_pickling() -> None:
    """The error crosses process borders with its cell and message."""
    error = pickle.loads(pickle.dumps(IllegalMoveError(3, "d15 is occupied")))
    assert (error.cell, str(error)) == (3, "d15 is occupied")


def test_white_wins() -> None:
    """White wins with its own line."""
    board = Board.from_moves([0, 30, 2, 31, 4, 32, 6, 33, 8, 34])
    assert board.winner is Color.WHITE
    assert board.is_over
    assert not board.is_draw
    assert board.has_won(Color.WHITE)
    assert not board.has_won(Color.BLACK)


@pytest.mark.parametrize("variant", [*SIZES[1:], GOMOKU, NON_SQUARE])
def test_full_board_is_a_draw(variant: Variant) -> None:
    """A board that fills without a line is drawn with the last stone, not before."""
    cells = drawn_cells(variant)
    board = Board.from_moves(cells[:-1], variant)
    assert not board.is_over
    board.play(cells[-1])
    assert board.is_full
    assert board.is_draw
    assert board.is_over
    assert board.winner is None
    assert board.legal_cells() == []


def test_no_move_on_a_full_board() -> None:
    """A drawn game takes no further move."""
    board = Board.from_moves(drawn_cells(NON_SQUARE), NON_SQUARE)
    with pytest.raises(IllegalMoveError, match="the game is over"):
        board.play(0)


def test_draw_at_a_limit_of_stones() -> None:
    """The game is drawn with so many stones, and takes no further one."""
    cells = drawn_cells(NON_SQUARE)
    board = Board.from_moves(cells[:19], replace(NON_SQUARE, draw_at=20))
    assert (board.is_over, board.plies_left) == (False, 1)
    board.play(cells[19])
    assert board.is_draw
    assert board.plies_left == 0
    assert not board.is_legal(cells[20])
    with pytest.raises(IllegalMoveError, match="the game is over"):
        board.play(cells[20])
    board.undo()
    assert not board.is_over


def test_win_at_a_limit_of_stones() -> None:
    """The last stone that is allowed may win."""
    variant = Variant(width=4, height=3, line=3, draw_at=7)
    board = Board.from_moves([0, 1, 4, 2, 5, 6, 8], variant)
    assert board.winner is Color.BLACK
    assert not board.is_draw


def test_stones_set_up_count_towards_the_limit() -> None:
    """A printed board may be over by its number of stones."""
    variant = Variant(width=3, height=3, line=3, draw_at=8)
    assert Board.parse("xxo/oox/xx.", variant).is_draw
    assert Board.parse("xxo/oox/x..", variant).plies_left == 1


def test_win_with_the_last_stone() -> None:
    """A line completed on the last empty cell wins and is no draw."""
    board = Board.from_moves([0, 1, 2, 3, 5, 4, 7, 6, 8], TIC_TAC_TOE)
    assert board.is_full
    assert board.winner is Color.BLACK
    assert not board.is_draw


def count_games(board: Board, tally: Counter[Color | None]) -> None:
    """Count every continuation by its winner."""
    for cell in board.legal_cells():
        board.play(cell)
        if board.is_over:
            tally[board.winner] += 1
        else:
            count_games(board, tally)
        board.undo()


def test_every_game_of_tic_tac_toe() -> None:
    """Tic-tac-toe has its 255,168 games: 131,184 first wins, 77,904 second, 46,080 draws."""
    tally: Counter[Color | None] = Counter()
    count_games(Board(TIC_TAC_TOE), tally)
    assert tally == {Color.BLACK: 131_184, Color.WHITE: 77_904, None: 46_080}


@given(random_games)
def test_parse_reads_what_str_writes(board: Board) -> None:
    """A printed board is read back with the same stones, side to move and winner."""
    parsed = Board.parse(str(board), board.variant)
    assert str(parsed) == str(board)
    assert parsed.side_to_move is board.side_to_move
    assert parsed.winner is board.winner
    assert parsed.is_full is board.is_full


def test_printed_board() -> None:
    """The top row is printed first, black as x and white as o."""
    assert str(Board.from_moves([4, 2, 3], TIC_TAC_TOE)) == "..o\nxx.\n..."


def test_parsed_stones_count_as_moves() -> None:
    """Stones of equal number, or one more for black, count as played in ascending order."""
    board = Board.parse("o.x/x", TIC_TAC_TOE)
    assert list(board.moves) == [2, 0, 3]
    assert board == Board.from_moves([2, 0, 3], TIC_TAC_TOE)
    assert list(Board.parse("ox.o/.x", TIC_TAC_TOE_WIDE).moves) == [1, 0, 5, 3]


@pytest.mark.parametrize(
    ("text", "side"), [("xx", Color.WHITE), ("xo/o", Color.BLACK), ("xxxxx/ooooo", Color.BLACK)]
)
def test_parsed_stones_set_up(text: str, side: Color) -> None:
    """Stones that make no game in turn are no moves; the side with fewer of them plays."""
    board = Board.parse(text)
    assert board.ply == 0
    assert board.side_to_move is side


def test_play_goes_on_from_stones_set_up() -> None:
    """Play alternates from the side to move, and taking back returns to the set-up."""
    board = Board.parse("xxxx")
    board.play(100)
    board.play(4)
    assert (board.stone(100), board.stone(4)) == (Color.WHITE, Color.BLACK)
    assert board.winner is Color.BLACK
    assert [board.undo(), board.undo()] == [4, 100]
    assert board == Board.parse("xxxx")


def test_set_up_board_fills() -> None:
    """Stones set up count towards a full board."""
    board = Board.parse("xxo/oox/xx.", TIC_TAC_TOE)
    assert board.ply == 0
    board.play(8)
    assert board.is_draw


@pytest.mark.parametrize(
    ("text", "winner"),
    [
        ("xxxxx", Color.BLACK),
        ("ooooo", Color.WHITE),
        ("xxxxx/ooooo", Color.WHITE),
        ("xxxxx/ooooo/x", Color.BLACK),
        ("xxxx/oooo", None),
    ],
)
def test_winner_of_a_parsed_board(text: str, winner: Color | None) -> None:
    """A line on a parsed board wins; of two, the line of the side that isn't to move."""
    assert Board.parse(text).winner is winner


def test_copy_is_independent() -> None:
    """A copy equals its original and doesn't follow it."""
    board = Board.from_moves([1, 2])
    twin = board.copy()
    assert twin == board
    board.play(3)
    assert twin == Board.from_moves([1, 2])
    twin.play(4)
    assert list(board.moves) == [1, 2, 3]
    assert board.stone(4) is None


@pytest.mark.parametrize("text", ["xx", "xxxxx", "xo"])
def test_copy_of_a_parsed_board(text: str) -> None:
    """A copy keeps stones set up, the side to move and the winner."""
    board = Board.parse(text)
    twin = board.copy()
    assert twin == board
    assert twin.side_to_move is board.side_to_move
    assert twin.winner is board.winner


def test_copy_of_a_full_board() -> None:
    """A copy of stones that were set up is as full as they are."""
    board = Board.parse("xxo/oox/xxx", TIC_TAC_TOE)
    assert board.ply == 0
    assert board.copy().is_full


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


def test_deepcopy_and_pickle() -> None:
    """A board survives the standard copiers."""
    board = Board.parse("xx")
    board.play(30)
    assert copy.deepcopy(board) == board
    assert pickle.loads(pickle.dumps(board)) == board


def test_stone_off_the_board() -> None:
    """There is no stone to ask for off the board."""
    for cell in (-1, 225):
        with pytest.raises(ValueError, match="off the 15x15 board"):
            Board().stone(cell)


def test_repr_names_the_position() -> None:
    """The repr shows variant, ply and side to move."""
    assert repr(Board.from_moves([0])) == "<Board freestyle 15x15, ply 1, white to move>"

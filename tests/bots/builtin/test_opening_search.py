"""Openings played by search."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from meijin.bots import AlphaBetaBot, MctsBot, Position
from meijin.bots.builtin.opening_search import OpeningSearcher
from meijin.game import (
    OPENING_RULES,
    SWAP1,
    SWAP2,
    TIC_TAC_TOE,
    Board,
    Color,
    TimeControl,
    Variant,
    parse_cell,
)

SWAPPED = Variant(opening_rule=SWAP2)
MINUTE = TimeControl.parse("60")
BOTS: list[Callable[[], OpeningSearcher]] = [
    lambda: AlphaBetaBot(nodes=5_000),
    lambda: MctsBot(playouts=500),
]


class Judge(OpeningSearcher):
    """Finds black better by as much as the cells of its stones add up to."""

    name = "judge"

    def __init__(self) -> None:
        self.times: list[timedelta] = []
        self.values: dict[tuple[int, ...], int] = {}

    def advantage(self, position: Position, board: Board, time: timedelta) -> float:
        """Of the side to move."""
        self.times.append(time)
        assert position.board.ply <= board.ply
        value = sum(board.moves[::2]) - sum(board.moves[1::2])
        self.values[tuple(board.moves)] = abs(value)
        return value if board.side_to_move is Color.BLACK else -value


def position(names: str = "", variant: Variant = SWAPPED, game: str = "1") -> Position:
    """A position of an opening."""
    board = Board.from_moves([parse_cell(name, variant) for name in names.split()], variant)
    return Position(board, MINUTE, game_id=game)


@pytest.mark.parametrize("make", BOTS, ids=["alphabeta", "mcts"])
@pytest.mark.parametrize(
    ("names", "side"),
    [
        ("h8 a15 i8", Color.BLACK),  # two together, and white is far away
        ("a1 h8 o15", Color.WHITE),  # white has the middle and the move
    ],
)
def test_takes_the_better_side(
    make: Callable[[], OpeningSearcher], names: str, side: Color
) -> None:
    """By its own search, whatever the colour of the move."""
    assert make().choose_side(position(names), 2) is side


@pytest.mark.parametrize("make", BOTS, ids=["alphabeta", "mcts"])
def test_its_stones_can_be_placed(make: Callable[[], OpeningSearcher]) -> None:
    """As many as are asked for, and the board stays as it is."""
    at = position()
    cells = make().place_opening(at, 3)
    assert len(cells) == 3
    assert not at.board.moves
    assert Board.from_moves(cells, SWAPPED).ply == 3


def test_the_most_balanced_candidate_is_placed() -> None:
    """Whoever it favours; and all candidates share the time of a move."""
    judge = Judge()
    cells = judge.place_opening(position(), 3)
    assert len(judge.values) == len(judge.times) == 8
    assert judge.values[tuple(cells)] == min(judge.values.values())
    assert sum(judge.times, timedelta(0)) <= timedelta(seconds=60)
    assert Judge().place_opening(position(game="2"), 3) != cells


@pytest.mark.parametrize("side", Color)
def test_a_level_position_is_the_side_to_moves(side: Color) -> None:
    """Where the search sees no difference, the move is worth something."""
    names = "a1 b1" if side is Color.BLACK else "a1 b1 b2 a2 o1"
    board = position(names).board
    judge = Judge()
    judge.advantage = lambda *_: 0.0  # type: ignore[method-assign]
    assert judge.choose_side(Position(board, MINUTE), 0) is board.side_to_move is side


@pytest.mark.parametrize("variant", [Variant(opening_rule=SWAP1), TIC_TAC_TOE, Variant(width=5)])
@pytest.mark.parametrize("stones", [1, 2, 3])
def test_any_board_has_candidates(variant: Variant, stones: int) -> None:
    """Also one stone, boards without a book, and stones beside others."""
    assert len(Judge().place_opening(position(variant=variant), stones)) == stones
    assert len(Judge().place_opening(position("a1 b1", variant), stones)) == stones


@pytest.mark.parametrize("kind", [AlphaBetaBot, MctsBot])
def test_every_opening_rule_is_claimed(kind: type[OpeningSearcher]) -> None:
    """By both bots that search."""
    assert kind.capabilities.opening_rules == tuple(OPENING_RULES.values())

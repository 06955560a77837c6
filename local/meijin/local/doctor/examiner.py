"""The examiner: the opponent in the doctor's games, who plays by chance or in the way, and resigns early."""

import threading
from collections.abc import Sequence
from itertools import cycle

from meijin.bots import RESIGN, Answer, Position, RandomBot
from meijin.game import Board, Color, Offer

MOST_PLIES = 30
"""With this many stones on the board the examiner resigns; smaller boards are played to the end."""


class Examiner(RandomBot):
    """Plays any cell, takes each choice of an opening in turn, and can hold a game up."""

    def __init__(self) -> None:
        super().__init__(seed=1)
        self.is_holding = threading.Event()
        """Set while a game waits for it."""
        self.is_blocking = False
        """It plays in the way of the opponent's rows, so that a search has something to do."""
        self._hold_ply: int | None = None
        self._gate = threading.Event()
        self._choices = cycle((None, Color.WHITE, Color.BLACK))

    def hold(self, ply: int) -> None:
        """Let the next turn wait in which this many stones lie on the board, until `release`."""
        self.is_holding.clear()
        self._gate.clear()
        self._hold_ply = ply

    def release(self) -> None:
        """Go on with what is held."""
        self._hold_ply = None
        self._gate.set()

    def choose_many(self, positions: Sequence[Position]) -> Sequence[Answer]:  # type: ignore[override]  # it may resign, and blocks
        """Answer each of `positions`, when it may."""
        plies = max(len(position.board.moves) for position in positions)
        if self._hold_ply is not None and plies >= self._hold_ply:
            self.is_holding.set()
            self._gate.wait()
        return [self._answer(position) for position in positions]

    def choose_side(self, position: Position, stones: int) -> Color | Sequence[int] | Offer:
        """Do without, take white and take black in turn, so that all of it is met."""
        choice = next(self._choices)
        if choice is None and stones:
            return self.place_opening(position, stones)
        if choice is None and position.task is not None and position.task.offers:
            return Offer(tuple(self.offer_cells(position, position.task.offers)))
        return choice or next(filter(None, self._choices))

    def _answer(self, position: Position) -> Answer:
        if len(position.board.moves) >= MOST_PLIES:
            return RESIGN
        return blocking_cell(position.board) if self.is_blocking else self.choose(position)


def blocking_cell(board: Board) -> int:
    """The cell that would give the opponent its longest row of stones."""
    color, grid = board.side_to_move.other, board.grid

    def row_through(cell: int) -> int:
        at = grid.index[cell]
        return max(
            _stones(board, color, at, step) + _stones(board, color, at, -step)
            for step in grid.steps
        )

    return max(board.legal_cells(), key=row_through)


def _stones(board: Board, color: Color, at: int, step: int) -> int:
    """How many stones of `color` follow a place in one direction."""
    count = 0
    while board.stones[at + (count + 1) * step] == color:
        count += 1
    return count

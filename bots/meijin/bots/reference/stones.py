"""A board as a game to search, black against white."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeAlias

from meijin.game import Board, Color

Evaluation: TypeAlias = Callable[[Board], float]
"""What a board is worth to black, over or not."""


class StonesGame:
    """`Game` of cells on a board, which the search plays on and leaves as found.

    The maximiser is black, unless `maximiser` says otherwise.
    """

    def __init__(
        self, board: Board, evaluation: Evaluation, *, maximiser: Color = Color.BLACK
    ) -> None:
        self.board = board
        self._evaluation = evaluation
        self._maximiser = maximiser

    @property
    def is_over(self) -> bool:
        """Whether a side has won or the board is full."""
        return self.board.is_over

    @property
    def maximiser_to_move(self) -> bool:
        """Whether the maximiser places the next stone."""
        return self.board.side_to_move is self._maximiser

    @property
    def key(self) -> Hashable:
        """The stones; with a winner known from them, and the side to move from their number."""
        return bytes(self.board.stones)

    def moves(self) -> Sequence[int]:
        """The legal cells, ascending."""
        return self.board.legal_cells()

    def play(self, move: int) -> None:
        """Place a stone."""
        self.board.play(move)

    def undo(self) -> None:
        """Take the last stone back."""
        self.board.undo()

    def evaluate(self) -> float:
        """The evaluation, turned round where white is the maximiser."""
        value = self._evaluation(self.board)
        return value if self._maximiser is Color.BLACK else -value

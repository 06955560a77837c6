"""The player of the package gomoku-terminal behind the Gomocup protocol.

It is run as ``python -m tests.system.brains.terminal_brain``.
"""

import random

from gomoku.ai import GomokuAI
from gomoku.board import Board
from tests.system.brains.line_brain import Gomocup
from tests.system.brains.lines import OWN, Player, Point


class Terminal(Player):
    """Has the package's player choose, on a board of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.ai = GomokuAI("medium")
        random.seed(1)

    def choose(self) -> Point:
        """What it plays in this position."""
        Board.SIZE = self.size
        board = Board()
        for (x, y), side in self.stones.items():
            board.place_stone(y, x, side)
        row, column = self.ai.get_move(board, OWN)
        return column, row


if __name__ == "__main__":
    brain = Gomocup(Terminal())
    brain.name = "gomoku-terminal"
    brain.run()

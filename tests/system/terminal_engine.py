"""Somebody else's player, that of the package gomoku-terminal, behind the Gomocup protocol."""

import random

from gomoku.ai import GomokuAI
from gomoku.board import Board
from tests.bots.bridge.brains import Brain

OWN, OTHER = 1, 2


class TerminalEngine(Brain):
    """Has the package's player choose, on a board of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.ai = GomokuAI("medium")
        self.own: set[tuple[int, int]] = set()
        random.seed(1)

    def on_start(self, rest: str) -> None:
        super().on_start(rest)
        self.own.clear()

    def on_restart(self, rest: str) -> None:
        super().on_restart(rest)
        self.own.clear()

    def add(self, text: str) -> None:
        """Take a stone of the other's, or one whose side stands behind it."""
        super().add(text)
        x, y, *side = map(int, text.split(","))
        if side == [OWN]:
            self.own.add((x, y))

    def choose(self) -> tuple[int, int]:
        Board.SIZE = self.size[0]
        board = Board()
        for x, y in self.stones:
            board.place_stone(y, x, OWN if (x, y) in self.own else OTHER)
        row, column = self.ai.get_move(board, OWN)
        self.own.add((column, row))
        return column, row


if __name__ == "__main__":
    TerminalEngine().run()

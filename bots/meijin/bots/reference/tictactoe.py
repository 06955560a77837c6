"""Tic-tac-toe: a player with two ways to search, and any evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from random import Random
from types import MappingProxyType

from meijin.bots.reference.minimax import Found, minimax, negamax
from meijin.bots.reference.ordering import shuffled
from meijin.bots.reference.stones import Evaluation, StonesGame
from meijin.game import Board, Color

FULL_DEPTH = 9
"""Plies, more than which no game has."""

_SCORES: Mapping[Color | None, float] = MappingProxyType({Color.BLACK: 1, Color.WHITE: -1, None: 0})


def outcome(board: Board) -> float:
    """1 for a board that black has won, -1 for one that white has, 0 for any other."""
    return _SCORES[board.winner]


class Mode(Enum):
    """How a player searches."""

    MINIMAX = "minimax"
    ALPHABETA = "alphabeta"


@dataclass(frozen=True, slots=True)
class Player:
    """Chooses cells on boards of any size, though it is meant for `TIC_TAC_TOE`."""

    rng: Random
    """Draws one of several moves that are equally good."""
    mode: Mode = Mode.ALPHABETA
    depth: int = FULL_DEPTH
    """Plies that it looks ahead."""
    evaluation: Evaluation = outcome

    def choose(self, board: Board) -> int:
        """One of the best cells, each as likely as the others; the game must not be over.

        Alpha-beta finds the first best cell of the order searched, so the order is drawn.
        """
        found = self.search(board)
        return self.rng.choice(found.moves)

    def search(self, board: Board) -> Found[int]:
        """The value to black, and the best cells as far as the mode finds them."""
        game = StonesGame(board, self.evaluation)
        if self.mode is Mode.MINIMAX:
            return minimax(game, self.depth)
        return negamax(game, self.depth, order=shuffled(self.rng))

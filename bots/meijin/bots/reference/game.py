"""What a game must offer to be searched."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Protocol, TypeVar

Move = TypeVar("Move", bound=Hashable)


class Game(Protocol[Move]):
    """A game of two sides that take turns, played and taken back on one object.

    One side, the maximiser, wants a high value, the other a low one.
    """

    @property
    def is_over(self) -> bool:
        """Whether no move is left to play."""

    @property
    def maximiser_to_move(self) -> bool:
        """Whether the side to move is the one that wants a high value."""

    @property
    def key(self) -> Hashable:
        """The position and the side to move, the same however it was reached."""

    def moves(self) -> Sequence[Move]:
        """The moves to try, always in the same order; at least one unless the game is over."""

    def play(self, move: Move) -> None:
        """Make one of `moves`."""

    def undo(self) -> None:
        """Take the last move back."""

    def evaluate(self) -> float:
        """What the position is worth to the maximiser, over or not."""

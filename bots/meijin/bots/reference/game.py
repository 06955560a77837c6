"""What a game must offer to be searched, and orders of its moves, on which pruning depends."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from random import Random
from typing import Protocol, TypeAlias, TypeVar

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


Ordering: TypeAlias = Callable[[Game[Move], Sequence[Move]], Sequence[Move]]
"""Arranges the moves of a position; none is added or left out."""


def scan(_game: Game[Move], moves: Sequence[Move]) -> Sequence[Move]:
    """The moves as the game lists them."""
    return moves


def shuffled(rng: Random) -> Ordering[Move]:
    """Any order, drawn anew at every position."""

    def order(_game: Game[Move], moves: Sequence[Move]) -> Sequence[Move]:
        return rng.sample(moves, len(moves))

    return order


def ordered_by(promise: Callable[[Game[Move], Move], float]) -> Ordering[Move]:
    """The move with the highest promise to the side to move first."""

    def order(game: Game[Move], moves: Sequence[Move]) -> Sequence[Move]:
        return sorted(moves, key=lambda move: promise(game, move), reverse=True)

    return order

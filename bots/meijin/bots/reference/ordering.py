"""Move ordering, on which pruning depends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeAlias

from meijin.bots.reference.game import Game, Move

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

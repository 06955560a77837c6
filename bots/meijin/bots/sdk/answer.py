"""Answers: what a bot returns at its turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from meijin.game import Analysis, Placement

__all__ = ["RESIGN", "Analysis", "Answer", "Choice", "Failure", "Resignation"]


@dataclass(frozen=True, slots=True)
class Choice:
    """A cell, and what the bot thought about it."""

    cell: int
    analysis: Analysis | None = None


@dataclass(frozen=True, slots=True)
class Unchecked:
    """A cell to be sent as it is: the server judges a move that is illegal."""

    cell: int
    """Not negative, on the board or not."""


class Resignation(Enum):
    """The bot gives the game up."""

    RESIGN = "resign"


RESIGN: Final = Resignation.RESIGN


@dataclass(frozen=True, slots=True)
class Failure:
    """The bot can't go on with the game and forfeits it; its other games go on."""

    message: str
    """What happened, for the author."""
    is_suppliers: bool = False
    """It was not the bot that failed, but what it depends on: the game is void instead."""
    traceback: str = ""
    """Where it happened, for the author: the frames of the stack, the innermost last."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What was found in a position outside of games."""

    answer: Answer | Failure
    seconds: float
    """What the search took, or its share of a batch."""


Stones: TypeAlias = Sequence[int] | Placement
"""Cells of an opening, black and white in turn; a `Placement` is sent as it is, and the server
judges it."""

Answer: TypeAlias = int | Choice | Unchecked | Resignation
"""What `Bot.choose` returns; a cell is row * width + column, row 0 on top."""

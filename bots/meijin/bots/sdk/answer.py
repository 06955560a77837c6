"""Answers: what a bot returns at its turn."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from meijin.game import (
    Analysis,
    Board,
    Choose,
    Color,
    Declare,
    Offer,
    OpeningAction,
    Placement,
    Task,
)
from meijin.game.position import allows, distinct_cells

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


def opening_action(
    answer: object, task: Task, board: Board, method: str
) -> OpeningAction | Failure:
    """What a bot's method has answered in an opening, or why that can't be."""
    if isinstance(answer, Color) and task.may_choose:
        return Choose(answer)
    if isinstance(answer, Placement):
        return answer
    is_offer = isinstance(answer, Offer) or (task.offers and not task.may_choose)
    try:
        if task.most_offers:
            return Declare(operator.index(answer))  # type: ignore[arg-type]
        if is_offer:
            return _offer(answer.cells if isinstance(answer, Offer) else answer, task, board)
        return Placement(_cells([answer] if task.among else answer, task, board))
    except (TypeError, ValueError) as error:
        return Failure(f"{method} returned {answer!r}: {error}")


def _cells(answer: object, task: Task, board: Board) -> tuple[int, ...]:
    cells = tuple(map(operator.index, answer))  # type: ignore[call-overload]
    copy = board.copy()
    for stone, cell in enumerate(cells):
        copy.play(cell)
        if stone < task.stones and not allows(task, stone, cell, board.variant):
            where = "among the offered cells" if task.among else "in its central square"
            raise ValueError(f"cell {cell} is not {where}")
    if len(cells) != task.stones:
        raise ValueError(f"{task.stones} stones are asked for")
    return cells


def _offer(answer: object, task: Task, board: Board) -> Offer:
    cells = tuple(map(operator.index, answer))  # type: ignore[call-overload]
    if not all(map(board.is_legal, cells)) or len(distinct_cells(board, cells)) != task.offers:
        raise ValueError(f"{task.offers} empty cells are asked for, no two the same by symmetry")
    if len(cells) != task.offers:
        raise ValueError(f"{task.offers} cells are asked for")
    return Offer(cells)

"""Thoughts: what engines are asked and think about, each question of a game once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import NamedTuple


class Question(NamedTuple):
    """What a game asks for at its turn."""

    moves: tuple[int, ...]
    """The stones on the board, in the order played."""
    is_opening: bool
    """Stones or a side, as an opening rule has it, in place of a move."""


@dataclass(slots=True)
class _Thought:
    question: Question
    task: asyncio.Task[object]


class Thoughts:
    """The last question of each game, and its answer, thought about or known."""

    def __init__(self) -> None:
        self._thoughts: dict[str, _Thought] = {}

    def find(self, game_id: str, question: Question) -> asyncio.Task[object] | None:
        """What answers the question, if it was asked already."""
        thought = self._thoughts.get(game_id)
        return thought.task if thought is not None and thought.question == question else None

    def begin(
        self,
        game_id: str,
        question: Question,
        think: Callable[[], Coroutine[None, None, object]],
    ) -> asyncio.Task[object]:
        """Begin to think about a question; the one before is to be dropped first."""
        task = asyncio.create_task(think())
        task.add_done_callback(retrieve)
        self._thoughts[game_id] = _Thought(question, task)
        return task

    def drop(self, game_id: str) -> bool:
        """Forget the last question; true if the engine was thinking about it still."""
        thought = self._thoughts.pop(game_id, None)
        if thought is None or thought.task.done():
            return False
        thought.task.cancel()
        return True


def retrieve(task: asyncio.Task[object]) -> None:
    """Have no complaint logged about an error that nobody waits for any more."""
    if not task.cancelled():
        task.exception()

"""Analysis of positions in batches: what any bot would play, and what its search found.

Positions are read while others are searched, and findings come in the order of the positions, each
as soon as it is there.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from threading import BoundedSemaphore, Thread
from typing import Generic, TypeVar

from meijin.bots import Analysis, Bot, Choice, Position, Unchecked
from meijin.bots.sdk.answer import Failure
from meijin.bots.sdk.running_game import check_answer
from meijin.game import Board, TimeControl

T = TypeVar("T")

AHEAD = 4
"""Positions that wait for each thread, so that none of them idles while a file is read."""
BATCH = 64
"""The most positions that a bot with `choose_many` is given at once."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a bot found in a position."""

    best: int | None
    """The cell that it would play; ``None`` where it would resign, or has failed."""
    analysis: Analysis | None
    """``None`` where it says nothing."""
    seconds: float
    """What the search took, or its share of a batch."""
    error: str = ""
    """Why there is nothing, where the bot has failed."""


@dataclass(slots=True)
class _Task(Generic[T]):
    """A position on its way, with what the caller knows it by."""

    key: T
    board: Board
    finding: SimpleQueue[Finding]
    """Of one: where it comes."""


class Analyser:
    """Has a bot search positions in threads; the compiled searches run side by side.

    A bot with an ``async def choose`` or with `choose_many` has one thread, and the latter is
    given all the positions that wait.
    """

    def __init__(self, bot: Bot, control: TimeControl, *, threads: int = 1) -> None:
        """Take a bot that is ready; `control` is what its clocks show at each position."""
        if threads < 1:
            raise ValueError(f"{threads} threads can't search; give 1 or more")
        self._bot = bot
        self._control = control
        self._has_batches = type(bot).choose_many is not Bot.choose_many
        is_alone = self._has_batches or inspect.iscoroutinefunction(bot.choose)
        self._threads = 1 if is_alone else threads

    def findings(self, positions: Iterable[tuple[T, Board]]) -> Iterator[tuple[T, Finding]]:
        """What is found in each position, beside what it is known by.

        The games must go on: no position is over.

        Raises:
            Exception: what `positions` raised when it was read.
        """
        room = BoundedSemaphore(AHEAD * self._threads + (BATCH if self._has_batches else 0))
        ordered: SimpleQueue[_Task[T] | BaseException | None] = SimpleQueue()
        waiting: SimpleQueue[_Task[T] | None] = SimpleQueue()

        def feed() -> None:
            try:
                for key, board in positions:
                    room.acquire()
                    task = _Task(key, board, SimpleQueue())
                    ordered.put(task)
                    waiting.put(task)
                ordered.put(None)
            except BaseException as error:  # noqa: BLE001 - raised where the findings are read
                ordered.put(error)
            finally:
                for _ in range(self._threads):
                    waiting.put(None)

        for work in (feed, *[lambda: self._search(waiting)] * self._threads):
            Thread(target=work, name="analyser", daemon=True).start()
        while (task := ordered.get()) is not None:
            if isinstance(task, BaseException):
                raise task
            yield task.key, task.finding.get()
            room.release()

    def _search(self, waiting: SimpleQueue[_Task[T] | None]) -> None:
        """Search what waits, until there is no more."""
        while (task := waiting.get()) is not None:
            batch = [task]
            is_over = False
            while self._has_batches and len(batch) < BATCH and not waiting.empty():
                more = waiting.get()  # by the one thread that there is
                if more is None:
                    is_over = True
                    break
                batch.append(more)
            findings = self._found([each.board for each in batch])
            for each, finding in zip(batch, findings, strict=True):
                each.finding.put(finding)
            if is_over:
                return

    def _found(self, boards: Sequence[Board]) -> list[Finding]:
        positions = [Position(board.copy(), self._control) for board in boards]
        began = time.perf_counter()
        try:
            answers = self._answers(positions)
            seconds = (time.perf_counter() - began) / len(boards)
            return [_finding(*each, seconds) for each in zip(answers, boards, strict=True)]
        except (Exception, SystemExit) as error:  # noqa: BLE001 - told as the finding
            text = f"the bot failed: {type(error).__name__}: {error}"
            return [Finding(None, None, 0.0, text)] * len(boards)

    def _answers(self, positions: Sequence[Position]) -> Sequence[object]:
        if not self._has_batches:
            return [_awaited(self._bot.choose(position)) for position in positions]
        answers: Sequence[object] = _awaited(self._bot.choose_many(positions))
        if len(answers) != len(positions):
            raise ValueError(f"{len(answers)} answers for {len(positions)} positions")
        return answers


def _awaited(answer: T | Awaitable[T]) -> T:
    """An answer, for which an event loop of its own is run if it has to be awaited."""
    if not inspect.isawaitable(answer):
        return answer

    async def wait() -> T:
        return await answer

    return asyncio.run(wait())


def _finding(answer: object, board: Board, seconds: float) -> Finding:
    if isinstance(answer, Unchecked):
        answer = answer.cell
    checked = check_answer(answer, board)
    if isinstance(checked, Failure):
        return Finding(None, None, seconds, checked.message)
    if isinstance(checked, Choice):
        return Finding(checked.cell, checked.analysis, seconds)
    return Finding(checked if isinstance(checked, int) else None, None, seconds)

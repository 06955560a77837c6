"""The evaluator: searches positions outside of games, behind the turns of those."""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar, cast

from meijin.bots.sdk.answer import Answer, Evaluated, Failure
from meijin.bots.sdk.bot import Bot
from meijin.bots.sdk.events import Evaluation
from meijin.bots.sdk.outbox import Outbox
from meijin.bots.sdk.position import Position
from meijin.bots.sdk.running_game import check_answer
from meijin.bots.sdk.threads import SearchThreads
from meijin.bots.sdk.wire import Action
from meijin.game import Board, TimeControl, decode_moves

BATCH = 64
"""The most positions that a bot with `evaluate_many` is given at once."""

T = TypeVar("T")

logger = logging.getLogger("meijin.bots")


class Evaluator:
    """Has a bot search what it is asked outside of games, where it searches its turns.

    No more is handed to the search threads than they do at once: a turn waits for what is
    being searched, and for nothing that is yet to be.
    """

    def __init__(self, bot: Bot, threads: SearchThreads) -> None:
        self._bot = bot
        self._threads = threads
        self._has_batches = _is_own(bot, "evaluate_many") or (
            _is_own(bot, "choose_many") and not _is_own(bot, "evaluate")
        )
        self._is_on_loop = inspect.iscoroutinefunction(_method(bot, self._has_batches))
        self._at_once = self._most_at_once()
        self._outbox = Outbox()
        self._waiting: deque[Evaluation] = deque()
        self._running = 0
        self._tasks: set[asyncio.Task[list[Evaluated]]] = set()

    def open(self, outbox: Outbox) -> None:
        """Begin a stream; what is found goes to `outbox`."""
        self._outbox = outbox

    def close(self) -> None:
        """End a stream: nobody waits for what was asked on it."""
        self._waiting.clear()
        self._outbox = Outbox()
        for task in self._tasks:
            task.cancel()

    def search(self, asked: Sequence[Evaluation]) -> None:
        """Search for what is asked, as soon as there is room."""
        self._waiting.extend(asked)
        self._start()

    def _most_at_once(self) -> int:
        if self._has_batches:
            return 1
        return self._bot.capabilities.max_games if self._is_on_loop else self._threads.count

    def _start(self) -> None:
        while self._waiting and self._running < self._at_once:
            size = min(BATCH if self._has_batches else 1, len(self._waiting))
            batch = [self._waiting.popleft() for _ in range(size)]
            self._running += 1
            done = partial(self._finished, self._outbox, batch)
            if self._is_on_loop:
                task = asyncio.create_task(self._awaited(batch))
                self._tasks.add(task)
                task.add_done_callback(partial(self._task_done, done))
            else:
                self._threads.run(partial(self._searched, batch), done)

    def _finished(
        self, outbox: Outbox, batch: Sequence[Evaluation], found: Sequence[Evaluated]
    ) -> None:
        self._running -= 1
        for asked, each in zip(batch, found, strict=False):  # none of a batch that was cancelled
            outbox.add_action(Action(asked.number, 0, each))
        self._start()

    def _task_done(
        self, done: Callable[[list[Evaluated]], None], task: asyncio.Task[list[Evaluated]]
    ) -> None:
        self._tasks.discard(task)
        done([] if task.cancelled() else task.result())

    def _searched(self, batch: Sequence[Evaluation]) -> list[Evaluated]:
        """Search in a search thread."""
        began = time.perf_counter()
        try:
            positions = [_position(asked) for asked in batch]
            answers = cast("Sequence[Answer]", self._ask(positions))
            return _checked(answers, positions, began)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - logged, and the bot lives on
            return _failures(error, batch, began)

    async def _awaited(self, batch: Sequence[Evaluation]) -> list[Evaluated]:
        """Search on the event loop."""
        began = time.perf_counter()
        try:
            positions = [_position(asked) for asked in batch]
            answers = await cast("Awaitable[Sequence[Answer]]", self._ask_on_loop(positions))
            return _checked(answers, positions, began)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - logged, and the bot lives on
            return _failures(error, batch, began)

    def _ask(self, positions: Sequence[Position]) -> object:
        if self._has_batches:
            return self._bot.evaluate_many(positions)
        return [self._bot.evaluate(position) for position in positions]

    async def _ask_on_loop(self, positions: Sequence[Position]) -> Sequence[Answer]:
        if self._has_batches:
            return await cast("Awaitable[Sequence[Answer]]", self._bot.evaluate_many(positions))
        return [await cast("Awaitable[Answer]", self._bot.evaluate(each)) for each in positions]


def _is_own(bot: Bot, method: str) -> bool:
    return getattr(type(bot), method) is not getattr(Bot, method)


def _method(bot: Bot, has_batches: bool) -> Callable[..., object]:  # noqa: FBT001 - one of two
    """What is run in the end."""
    if has_batches:
        return bot.evaluate_many if _is_own(bot, "evaluate_many") else bot.choose_many
    return bot.evaluate if _is_own(bot, "evaluate") else bot.choose


def _position(asked: Evaluation) -> Position:
    board = Board.from_moves(decode_moves(asked.moves), asked.variant)
    control = TimeControl(initial=None, per_move=asked.time)
    return Position(board, control, max_nodes=asked.nodes)


def _checked(
    answers: Sequence[Answer], positions: Sequence[Position], began: float
) -> list[Evaluated]:
    if len(answers) != len(positions):
        raise ValueError(f"{len(answers)} answers for {len(positions)} positions")
    seconds = (time.perf_counter() - began) / len(positions)
    return [
        Evaluated(check_answer(answer, position.board), seconds)
        for answer, position in zip(answers, positions, strict=True)
    ]


def _failures(error: BaseException, batch: Sequence[Evaluation], began: float) -> list[Evaluated]:
    logger.error("failed in a position outside of games", exc_info=error)
    seconds = (time.perf_counter() - began) / len(batch)
    return [Evaluated(Failure(f"{type(error).__name__}: {error}"), seconds)] * len(batch)

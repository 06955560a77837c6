"""The evaluator: searches positions outside of games, behind the turns of those."""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import cast

from meijin.bots.sdk.answer import Answer, Evaluated, Failure, Unchecked
from meijin.bots.sdk.bot import Bot, overrides, settled
from meijin.bots.sdk.errors import failure_of
from meijin.bots.sdk.position import Position
from meijin.bots.sdk.running_game import check_answer
from meijin.bots.sdk.searcher import SearchThreads, run_in_thread
from meijin.bots.sdk.stream import StreamOutbox
from meijin.bots.sdk.wire import Action
from meijin.game import Board, TimeControl, decode_moves
from meijin.v1.play_service_pb2 import EvaluationRequested
from meijin.wire.values import variant_from_proto

BATCH = 64
"""The most positions that a bot with `evaluate_many` is given at once."""

logger = logging.getLogger("meijin.bots")


class Evaluator:
    """Has a bot search what it is asked outside of games, where it searches its turns.

    No more is handed to the search threads than they do at once: a turn waits for what is
    being searched, and for nothing that is yet to be.
    """

    def __init__(self, bot: Bot, threads: SearchThreads) -> None:
        self._bot = bot
        self._threads = threads
        self._most = BATCH if has_batches(bot) else 1
        self._is_on_loop = is_on_loop(bot)
        self._at_once = bot.capabilities.max_games if self._is_on_loop else threads.count
        if has_batches(bot):
            self._at_once = 1
        self._outbox = StreamOutbox()
        self._waiting: deque[EvaluationRequested] = deque()
        self._running = 0
        self._tasks: set[asyncio.Task[list[Evaluated]]] = set()

    def open(self, outbox: StreamOutbox) -> None:
        """Begin a stream; what is found goes to `outbox`."""
        self._outbox = outbox

    def close(self) -> None:
        """End a stream: nobody waits for what was asked on it."""
        self._waiting.clear()
        self._outbox = StreamOutbox()
        for task in self._tasks:
            task.cancel()

    def search(self, asked: Sequence[EvaluationRequested]) -> None:
        """Search for what is asked, as soon as there is room."""
        self._waiting.extend(asked)
        self._start()

    def _start(self) -> None:
        while self._waiting and self._running < self._at_once:
            size = min(self._most, len(self._waiting))
            batch = [self._waiting.popleft() for _ in range(size)]
            self._running += 1
            done = partial(self._finished, self._outbox, batch)
            if self._is_on_loop:
                task = asyncio.create_task(self._search(batch))
                self._tasks.add(task)
                task.add_done_callback(partial(self._task_done, done))
            else:
                self._threads.run(partial(self._search_in_thread, batch), done)

    def _finished(
        self, outbox: StreamOutbox, batch: Sequence[EvaluationRequested], found: Sequence[Evaluated]
    ) -> None:
        self._running -= 1
        for asked, each in zip(batch, found, strict=False):  # none of a batch that was cancelled
            outbox.add_action(Action(asked.evaluation, 0, each))
        self._start()

    def _task_done(
        self, done: Callable[[list[Evaluated]], None], task: asyncio.Task[list[Evaluated]]
    ) -> None:
        self._tasks.discard(task)
        done([] if task.cancelled() else task.result())

    def _search_in_thread(self, batch: Sequence[EvaluationRequested]) -> list[Evaluated]:
        return run_in_thread(self._search(batch))

    async def _search(self, batch: Sequence[EvaluationRequested]) -> list[Evaluated]:
        try:
            positions = [_position(asked) for asked in batch]
        except ValueError as error:
            return [Evaluated(_failure(error), 0.0)] * len(batch)
        found = await evaluate(self._bot, positions)
        if isinstance(failure := found[0].answer, Failure) and failure.traceback:
            logger.error("failed in a position outside of games:\n%s", failure.traceback)
        return found


def has_batches(bot: Bot) -> bool:
    """Whether a bot is given many positions outside of games in one call."""
    return overrides(bot, "evaluate_many") or (
        overrides(bot, "choose_many") and not overrides(bot, "evaluate")
    )


def is_on_loop(bot: Bot) -> bool:
    """Whether what searches them is ``async``."""
    kind = "_many" if has_batches(bot) else ""
    verb = "evaluate" if overrides(bot, f"evaluate{kind}") else "choose"
    return inspect.iscoroutinefunction(getattr(bot, verb + kind))


async def evaluate(bot: Bot, positions: Sequence[Position]) -> list[Evaluated]:
    """What a bot finds in positions outside of games; a failure of its own is that of all."""
    began = time.perf_counter()
    found: Sequence[Answer | Failure]
    try:
        answers = await _answers(bot, positions)
        found = [
            check_answer(answer.cell if isinstance(answer, Unchecked) else answer, position.board)
            for answer, position in zip(answers, positions, strict=True)
        ]
    except (Exception, SystemExit) as error:  # noqa: BLE001 - told as what was found
        found = [_failure(error)] * len(positions)
    seconds = (time.perf_counter() - began) / len(positions)
    return [Evaluated(each, seconds) for each in found]


async def _answers(bot: Bot, positions: Sequence[Position]) -> Sequence[Answer]:
    if not has_batches(bot):
        return [cast("Answer", await settled(bot.evaluate(each))) for each in positions]
    answers = cast("Sequence[Answer]", await settled(bot.evaluate_many(positions)))
    if len(answers) != len(positions):
        raise ValueError(f"{len(answers)} answers for {len(positions)} positions")
    return answers


def _failure(error: BaseException) -> Failure:
    """A failure that names no file: whoever asked need not know the bot's."""
    return replace(failure_of(error), message=f"{type(error).__name__}: {error}")


def _position(asked: EvaluationRequested) -> Position:
    board = Board.from_moves(decode_moves(asked.moves), variant_from_proto(asked.variant))
    control = TimeControl(initial=None, per_move=timedelta(milliseconds=asked.time_ms))
    return Position(board, control, max_nodes=asked.nodes)

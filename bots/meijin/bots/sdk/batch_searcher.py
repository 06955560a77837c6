"""How a bot's `choose_many` is called: with every game that waits, one batch at a time."""

from __future__ import annotations

import asyncio
import inspect
import logging
from abc import abstractmethod
from collections.abc import Awaitable, Sequence
from functools import partial
from typing import TypeAlias, cast

from meijin.bots.sdk.answer import Answer
from meijin.bots.sdk.bot import Bot
from meijin.bots.sdk.searcher import Hook, Searcher, TaskSearcher, ThreadSearcher, call
from meijin.bots.sdk.seat import Seat
from meijin.bots.sdk.threads import SearchThreads
from meijin.bots.sdk.wire import Action

_Result: TypeAlias = list[Action] | BaseException

logger = logging.getLogger("meijin.bots")


class BatchSearcher(Searcher):
    """Gathers what comes while a batch is being searched, and makes it the next batch."""

    def __init__(self, bot: Bot, single: Searcher | None) -> None:
        self._bot = bot
        self._single = single  # what to fall back on when a batch fails
        self._hooks: list[Hook] = []
        self._seats: list[Seat] = []
        self._busy = False

    def think(self, seats: Sequence[Seat]) -> None:
        """Put `seats` into the next batch."""
        self._seats.extend(seats)
        self._prepare()

    def tell(self, seat: Seat, hook: Hook) -> None:  # noqa: ARG002 - one order for all games
        """Call a hook before the next batch."""
        self._hooks.append(hook)
        self._prepare()

    def forget(self, seats: Sequence[Seat]) -> None:
        """Do nothing for the batch: it may hold other games."""
        if self._single is not None:
            self._single.forget(seats)

    @abstractmethod
    def _launch(self, hooks: Sequence[Hook], seats: Sequence[Seat]) -> None:
        """Start on a batch; `_finished` is called at its end."""

    def _prepare(self) -> None:
        if not self._busy:
            self._busy = True
            asyncio.get_running_loop().call_soon(self._start)

    def _start(self) -> None:
        hooks, self._hooks = self._hooks, []
        seats = [seat for seat in self._seats if seat.running]
        self._seats = []
        if hooks or seats:
            self._launch(hooks, seats)
        else:
            self._busy = False

    def _finished(self, seats: Sequence[Seat], result: _Result) -> None:
        if isinstance(result, BaseException):
            self._retry(seats, result)
        else:
            for seat, action in zip(seats, result, strict=True):
                seat.send(action)
        self._start()

    def _retry(self, seats: Sequence[Seat], error: BaseException) -> None:
        logger.error("choose_many failed in %d games", len(seats), exc_info=error)
        if self._single is not None:
            self._single.think([seat for seat in seats if seat.running])
            return
        for seat in seats:
            seat.send(seat.fail(error))


class ThreadBatchSearcher(BatchSearcher):
    """For ``def choose_many``: batches are searched in a thread."""

    def __init__(self, bot: Bot, single: Searcher | None, threads: SearchThreads) -> None:
        super().__init__(bot, single)
        self._threads = threads

    def _launch(self, hooks: Sequence[Hook], seats: Sequence[Seat]) -> None:
        self._threads.run(partial(self._choose, hooks, seats), partial(self._finished, seats))

    def _choose(self, hooks: Sequence[Hook], seats: Sequence[Seat]) -> _Result:
        for hook in hooks:
            call(hook)
        if not seats:
            return []
        try:
            answers = self._bot.choose_many([seat.face() for seat in seats])
            return _settle(seats, cast("Sequence[Answer]", answers))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - logged, and the bot lives on
            return error


class TaskBatchSearcher(BatchSearcher):
    """For ``async def choose_many``: batches are searched on the event loop."""

    _task: asyncio.Task[_Result] | None = None
    _batch: Sequence[Seat] = ()

    def tell(self, seat: Seat, hook: Hook) -> None:  # noqa: ARG002 - hooks never wait here
        """Call a hook at once."""
        call(hook)

    def forget(self, seats: Sequence[Seat]) -> None:
        """Cancel the batch when nobody waits for any of its games."""
        super().forget(seats)
        if self._task is not None and not any(seat.running for seat in self._batch):
            self._task.cancel()

    def _launch(self, hooks: Sequence[Hook], seats: Sequence[Seat]) -> None:  # noqa: ARG002 - see tell
        self._batch = seats
        self._task = asyncio.create_task(self._choose(seats))
        self._task.add_done_callback(self._done)

    async def _choose(self, seats: Sequence[Seat]) -> _Result:
        try:
            answers = self._bot.choose_many([seat.face() for seat in seats])
            return _settle(seats, await cast("Awaitable[Sequence[Answer]]", answers))
        except Exception as error:  # noqa: BLE001 - logged, and the bot lives on
            return error

    def _done(self, task: asyncio.Task[_Result]) -> None:
        seats, self._batch, self._task = self._batch, (), None
        if task.cancelled():
            self._start()
        else:
            self._finished(seats, task.result())


def searcher_for(bot: Bot, threads: SearchThreads) -> Searcher:
    """Find out which of the two methods `bot` has, and where they run."""
    single: Searcher | None = None
    if _overrides(bot, "choose"):
        on_loop = inspect.iscoroutinefunction(bot.choose)
        single = TaskSearcher(bot) if on_loop else ThreadSearcher(bot, threads)
    if _overrides(bot, "choose_many"):
        on_loop = inspect.iscoroutinefunction(bot.choose_many)
        if on_loop:
            return TaskBatchSearcher(bot, single)
        return ThreadBatchSearcher(bot, single, threads)
    if single is None:
        raise TypeError(f"{type(bot).__name__} needs a choose or a choose_many method")
    return single


def _overrides(bot: Bot, method: str) -> bool:
    return getattr(type(bot), method) is not getattr(Bot, method)


def _settle(seats: Sequence[Seat], answers: Sequence[Answer]) -> list[Action]:
    if len(answers) != len(seats):
        raise ValueError(f"choose_many returned {len(answers)} answers for {len(seats)} positions")
    return [seat.settle(answer) for seat, answer in zip(seats, answers, strict=True)]

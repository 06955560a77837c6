"""How a bot's methods are called: in threads or on the event loop, one by one or in batches."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import cast

from meijin.bots.sdk.answer import Answer
from meijin.bots.sdk.bot import Bot
from meijin.bots.sdk.seat import Seat
from meijin.bots.sdk.threads import SearchThreads
from meijin.bots.sdk.wire import Action

Hook = Callable[[], None]
"""A call of `Bot.game_started` or `Bot.game_ended`."""

logger = logging.getLogger("meijin.bots")


class Searcher(ABC):
    """Calls a bot; each seat is sent its answer, or its failure."""

    @abstractmethod
    def think(self, seats: Sequence[Seat]) -> None:
        """Search for answers at `seats`, where the bot is to move."""

    @abstractmethod
    def tell(self, seat: Seat, hook: Hook) -> None:
        """Call a hook, after everything that was asked for the same game before."""

    @abstractmethod
    def forget(self, seats: Sequence[Seat]) -> None:
        """Break off what nobody waits for any more: none of `seats` is running."""


class ThreadSearcher(Searcher):
    """For ``def choose``: games wait in line for a thread, and never have two at once."""

    def __init__(self, bot: Bot, threads: SearchThreads) -> None:
        self._bot = bot
        self._threads = threads
        self._jobs: dict[Seat, deque[Callable[[], Action | None]]] = {}

    def think(self, seats: Sequence[Seat]) -> None:
        """Put a search in line for each of `seats`."""
        for seat in seats:
            self._post(seat, partial(self._choose, seat))

    def tell(self, seat: Seat, hook: Hook) -> None:
        """Put a hook in line."""
        self._post(seat, partial(call, hook))

    def forget(self, seats: Sequence[Seat]) -> None:
        """Do nothing: a search is skipped when its turn comes, and a running one can't stop."""

    def _post(self, seat: Seat, job: Callable[[], Action | None]) -> None:
        jobs = self._jobs.setdefault(seat, deque())
        jobs.append(job)
        if len(jobs) == 1:
            self._threads.run(job, partial(self._finished, seat))

    def _finished(self, seat: Seat, action: Action | None) -> None:
        if action is not None:
            seat.send(action)
        jobs = self._jobs[seat]
        jobs.popleft()
        if jobs:
            self._threads.run(jobs[0], partial(self._finished, seat))
        else:
            del self._jobs[seat]

    def _choose(self, seat: Seat) -> Action | None:
        if not seat.running:
            return None
        try:
            return seat.settle(self._bot.choose(seat.face()))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - logged, and the bot lives on
            return failed(seat, error)


class TaskSearcher(Searcher):
    """For ``async def choose``: a task for each turn."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self._tasks: dict[Seat, asyncio.Task[None]] = {}

    def think(self, seats: Sequence[Seat]) -> None:
        """Start a task for each of `seats`."""
        for seat in seats:
            task = self._tasks[seat] = asyncio.create_task(self._choose(seat))
            task.add_done_callback(partial(self._finished, seat))

    def tell(self, seat: Seat, hook: Hook) -> None:  # noqa: ARG002 - hooks never wait here
        """Call a hook at once."""
        call(hook)

    def forget(self, seats: Sequence[Seat]) -> None:
        """Cancel the tasks of `seats`."""
        for seat in seats:
            if task := self._tasks.get(seat):
                task.cancel()

    def _finished(self, seat: Seat, task: asyncio.Task[None]) -> None:
        if self._tasks.get(seat) is task:
            del self._tasks[seat]

    async def _choose(self, seat: Seat) -> None:
        try:
            answer = await cast("Awaitable[Answer]", self._bot.choose(seat.face()))
            action = seat.settle(answer)
        except Exception as error:  # noqa: BLE001 - logged, and the bot lives on
            action = failed(seat, error)
        seat.send(action)


def call(hook: Hook) -> None:
    """Call a hook; if it fails, say so and go on."""
    try:
        hook()
    except (Exception, SystemExit):
        logger.exception("a hook failed")


def failed(seat: Seat, error: BaseException) -> Action:
    """Log that the bot raised `error`, and say what to send."""
    logger.error("failed in game %s", seat.position.game_id, exc_info=error)
    return seat.fail(error)

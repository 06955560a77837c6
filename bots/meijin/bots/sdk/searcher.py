"""Searchers: how a bot's methods are called, in threads or on the event loop."""

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
from meijin.bots.sdk.errors import GameFailedError
from meijin.bots.sdk.running_game import RunningGame
from meijin.bots.sdk.threads import SearchThreads
from meijin.bots.sdk.wire import Action

Hook = Callable[[], None]
"""A call of `Bot.game_started` or `Bot.game_ended`."""

logger = logging.getLogger("meijin.bots")


class Searcher(ABC):
    """Calls a bot's methods, and has each game send the answer or the failure."""

    @abstractmethod
    def search(self, games: Sequence[RunningGame]) -> None:
        """Search for a move in each of `games`, where the bot is to move."""

    @abstractmethod
    def call_hook(self, game: RunningGame, hook: Hook) -> None:
        """Call a hook, after everything that was asked for the same game before."""

    @abstractmethod
    def cancel(self, games: Sequence[RunningGame]) -> None:
        """Cancel the searches of `games`, none of which is running any more."""


class ThreadSearcher(Searcher):
    """Calls ``def choose``: games queue for a thread, and never have two at once."""

    def __init__(self, bot: Bot, threads: SearchThreads) -> None:
        self._bot = bot
        self._threads = threads
        self._jobs: dict[RunningGame, deque[Callable[[], Action | None]]] = {}

    def search(self, games: Sequence[RunningGame]) -> None:
        """Queue a search for each of `games`."""
        for game in games:
            self._post(game, partial(self._choose, game))

    def call_hook(self, game: RunningGame, hook: Hook) -> None:
        """Queue a hook."""
        self._post(game, partial(run_hook, hook))

    def cancel(self, games: Sequence[RunningGame]) -> None:
        """Do nothing: a search is skipped when its turn comes, and a running one can't stop."""

    def _post(self, game: RunningGame, job: Callable[[], Action | None]) -> None:
        jobs = self._jobs.setdefault(game, deque())
        jobs.append(job)
        if len(jobs) == 1:
            self._threads.run(job, partial(self._finished, game))

    def _finished(self, game: RunningGame, action: Action | None) -> None:
        if action is not None:
            game.send(action)
        jobs = self._jobs[game]
        jobs.popleft()
        if jobs:
            self._threads.run(jobs[0], partial(self._finished, game))
        else:
            del self._jobs[game]

    def _choose(self, game: RunningGame) -> Action | None:
        if not game.running:
            return None
        try:
            if (task := game.task) is not None:
                return game.answer_task(self._bot, task)
            answer = self._bot.choose(game.turn_position())
            return game.action_for(answer, self._bot.choose)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - logged, and the bot lives on
            return log_failure(game, error)


class TaskSearcher(Searcher):
    """Calls ``async def choose``: a task for each turn."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self._tasks: dict[RunningGame, asyncio.Task[None]] = {}

    def search(self, games: Sequence[RunningGame]) -> None:
        """Start a task for each of `games`."""
        for game in games:
            task = self._tasks[game] = asyncio.create_task(self._choose(game))
            task.add_done_callback(partial(self._finished, game))

    def call_hook(self, game: RunningGame, hook: Hook) -> None:  # noqa: ARG002 - hooks never wait here
        """Call a hook at once."""
        run_hook(hook)

    def cancel(self, games: Sequence[RunningGame]) -> None:
        """Cancel the tasks of `games`."""
        for game in games:
            if task := self._tasks.get(game):
                task.cancel()

    def _finished(self, game: RunningGame, task: asyncio.Task[None]) -> None:
        if self._tasks.get(game) is task:
            del self._tasks[game]

    async def _choose(self, game: RunningGame) -> None:
        try:
            if (task := game.task) is not None:
                game.send(await game.await_task(self._bot, task))
                return
            answer = await cast("Awaitable[Answer]", self._bot.choose(game.turn_position()))
            action = game.action_for(answer, self._bot.choose)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - logged, and the bot lives on
            action = log_failure(game, error)
        game.send(action)


def run_hook(hook: Hook) -> None:
    """Call a hook; if it fails, say so and go on."""
    try:
        hook()
    except (Exception, SystemExit):
        logger.exception("a hook failed")


def log_failure(game: RunningGame, error: BaseException) -> Action:
    """Log that the bot raised `error`, and return the action to send."""
    if isinstance(error, GameFailedError):
        logger.error("failed in game %s: %s", game.position.game_id, error)
    else:
        logger.error("failed in game %s", game.position.game_id, exc_info=error)
    return game.failure_action(error)

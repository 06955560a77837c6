"""Batch searchers: `choose_many` is called with every game that waits, a batch at a time."""

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
from meijin.bots.sdk.events import OpeningTask
from meijin.bots.sdk.running_game import RunningGame
from meijin.bots.sdk.searcher import (
    Hook,
    Searcher,
    TaskSearcher,
    ThreadSearcher,
    log_failure,
    run_hook,
)
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
        self._waiting: list[RunningGame] = []
        self._busy = False

    def search(self, games: Sequence[RunningGame]) -> None:
        """Put `games` into the next batch."""
        self._waiting.extend(games)
        self._schedule()

    def call_hook(self, game: RunningGame, hook: Hook) -> None:  # noqa: ARG002 - one order for all games
        """Call a hook before the next batch."""
        self._hooks.append(hook)
        self._schedule()

    def cancel(self, games: Sequence[RunningGame]) -> None:
        """Do nothing for the batch: it may hold other games."""
        if self._single is not None:
            self._single.cancel(games)

    @abstractmethod
    def _launch(self, hooks: Sequence[Hook], games: Sequence[RunningGame]) -> None:
        """Start on a batch; `_finished` is called at its end."""

    def _schedule(self) -> None:
        if not self._busy:
            self._busy = True
            asyncio.get_running_loop().call_soon(self._start)

    def _start(self) -> None:
        hooks, self._hooks = self._hooks, []
        games = [game for game in self._waiting if game.running]
        self._waiting = []
        if hooks or games:
            self._launch(hooks, games)
        else:
            self._busy = False

    def _finished(self, games: Sequence[RunningGame], result: _Result) -> None:
        if isinstance(result, BaseException):
            self._retry(games, result)
        else:
            for game, action in zip(games, result, strict=True):
                game.send(action)
        self._start()

    def _retry(self, games: Sequence[RunningGame], error: BaseException) -> None:
        logger.error("choose_many failed in %d games", len(games), exc_info=error)
        if self._single is not None:
            self._single.search([game for game in games if game.running])
            return
        for game in games:
            game.send(game.failure_action(error))


class ThreadBatchSearcher(BatchSearcher):
    """Calls ``def choose_many``: batches are searched in a thread."""

    def __init__(self, bot: Bot, single: Searcher | None, threads: SearchThreads) -> None:
        super().__init__(bot, single)
        self._threads = threads

    def _launch(self, hooks: Sequence[Hook], games: Sequence[RunningGame]) -> None:
        self._threads.run(partial(self._choose, hooks, games), partial(self._finished, games))

    def _choose(self, hooks: Sequence[Hook], games: Sequence[RunningGame]) -> _Result:
        for hook in hooks:
            run_hook(hook)
        if not games:
            return []
        try:
            openings = _answer_openings(self._bot, games)
            others = [game for game in games if game not in openings] if openings else games
            answers: object = ()
            if others:
                answers = self._bot.choose_many([game.turn_position() for game in others])
            actions = _actions_for(self._bot, others, cast("Sequence[Answer]", answers))
            return _in_order(games, others, actions, openings)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - logged, and the bot lives on
            return error


class TaskBatchSearcher(BatchSearcher):
    """Calls ``async def choose_many``: batches are searched on the event loop."""

    _task: asyncio.Task[_Result] | None = None
    _batch: Sequence[RunningGame] = ()

    def call_hook(self, game: RunningGame, hook: Hook) -> None:  # noqa: ARG002 - hooks never wait here
        """Call a hook at once."""
        run_hook(hook)

    def cancel(self, games: Sequence[RunningGame]) -> None:
        """Cancel the batch when nobody waits for any of its games."""
        super().cancel(games)
        if self._task is not None and not any(game.running for game in self._batch):
            self._task.cancel()

    def _launch(self, hooks: Sequence[Hook], games: Sequence[RunningGame]) -> None:  # noqa: ARG002 - see call_hook
        self._batch = games
        self._task = asyncio.create_task(self._choose(games))
        self._task.add_done_callback(self._done)

    async def _choose(self, games: Sequence[RunningGame]) -> _Result:
        try:
            openings = await _await_openings(self._bot, games)
            others = [game for game in games if game not in openings] if openings else games
            answers: Sequence[Answer] = ()
            if others:
                positions = [game.turn_position() for game in others]
                answers = await cast(
                    "Awaitable[Sequence[Answer]]", self._bot.choose_many(positions)
                )
            actions = _actions_for(self._bot, others, answers)
            return _in_order(games, others, actions, openings)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - logged, and the bot lives on
            return error

    def _done(self, task: asyncio.Task[_Result]) -> None:
        games, self._batch, self._task = self._batch, (), None
        if task.cancelled():
            self._start()
        else:
            self._finished(games, task.result())


def searcher_for(bot: Bot, threads: SearchThreads) -> Searcher:
    """The searcher for the methods that `bot` has, plain or ``async``, single or batched."""
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


def _answer_openings(bot: Bot, games: Sequence[RunningGame]) -> dict[RunningGame, Action]:
    """The actions in the games whose opening asks for something, one by one."""
    actions = {}
    for game in games:
        if (task := game.task) is not None:
            try:
                actions[game] = game.answer_task(bot, task)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - logged, and the bot lives on
                actions[game] = log_failure(game, error)
    return actions


async def _await_openings(bot: Bot, games: Sequence[RunningGame]) -> dict[RunningGame, Action]:
    """As `_answer_openings`, with methods that may be ``async``."""

    async def answer(game: RunningGame, task: OpeningTask) -> Action:
        try:
            return await game.await_task(bot, task)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - logged, and the bot lives on
            return log_failure(game, error)

    asked = [(game, task) for game in games if (task := game.task) is not None]
    actions = await asyncio.gather(*(answer(game, task) for game, task in asked))
    return {game: action for (game, _), action in zip(asked, actions, strict=True)}


def _in_order(
    games: Sequence[RunningGame],
    others: Sequence[RunningGame],
    actions: list[Action],
    openings: dict[RunningGame, Action],
) -> list[Action]:
    """The actions of all games in their order."""
    if not openings:
        return actions
    found = openings | dict(zip(others, actions, strict=True))
    return [found[game] for game in games]


def _overrides(bot: Bot, method: str) -> bool:
    return getattr(type(bot), method) is not getattr(Bot, method)


def _actions_for(bot: Bot, games: Sequence[RunningGame], answers: Sequence[Answer]) -> list[Action]:
    if len(answers) != len(games):
        raise ValueError(f"choose_many returned {len(answers)} answers for {len(games)} positions")
    return [
        game.action_for(answer, bot.choose_many)
        for game, answer in zip(games, answers, strict=True)
    ]

"""Searchers: how a bot's methods are called, in threads or on the event loop.

Plain methods and ``async`` ones are called by the same coroutines. In a search thread, where
nothing can be awaited, such a coroutine runs to its end at once.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import TypeAlias, TypeVar, cast

from meijin.bots.sdk.answer import Answer
from meijin.bots.sdk.bot import Bot, overrides, settled
from meijin.bots.sdk.errors import GameFailedError
from meijin.bots.sdk.running_game import RunningGame
from meijin.bots.sdk.wire import Action
from meijin.game import Outcome

_Result = TypeVar("_Result")

Hook: TypeAlias = Callable[[], None]
"""A call of `Bot.game_started` or `Bot.game_ended`."""

_Batch: TypeAlias = Sequence[tuple[RunningGame, Action]] | BaseException
"""The actions of a batch, or what `choose_many` has raised."""

logger = logging.getLogger("meijin.bots")


class SearchThreads:
    """Runs jobs in the order given, on daemon threads: a search never holds up the exit."""

    def __init__(self, count: int = 1) -> None:
        if count < 1:
            raise ValueError(f"{count} threads can't search; give 1 or more")
        self.count = count
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads = [
            Thread(target=self._work, name=f"search-{number}", daemon=True)
            for number in range(1, count + 1)
        ]
        self._running = False

    def run(self, job: Callable[[], _Result], done: Callable[[_Result], None]) -> None:
        """Run `job`, which must not raise, and hand its result to `done` on the event loop."""
        if not self._running:
            self._running = True
            for thread in self._threads:
                thread.start()
        loop = asyncio.get_running_loop()

        def work() -> None:
            result = job()
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(done, result)

        self._jobs.put(work)

    def close(self) -> None:
        """Let the threads end after what they are doing now, without waiting for them."""
        for _ in self._threads:
            self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()


def run_in_thread(steps: Coroutine[object, None, _Result]) -> _Result:
    """Run a coroutine without an event loop; it is told by an error where it waits for one."""
    try:
        steps.send(None)
        steps.throw(TypeError("a method that is called in a search thread can't wait"))
    except StopIteration as end:
        return cast("_Result", end.value)
    raise RuntimeError(f"{steps} waits for an event loop")


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
        for game in games:
            self._post(game, partial(self._choose, game))

    def call_hook(self, game: RunningGame, hook: Hook) -> None:
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
        return run_in_thread(_answer(self._bot, game)) if game.running else None


class TaskSearcher(Searcher):
    """Calls ``async def choose``: a task for each turn."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self._tasks: dict[RunningGame, asyncio.Task[None]] = {}

    def search(self, games: Sequence[RunningGame]) -> None:
        for game in games:
            task = self._tasks[game] = asyncio.create_task(self._choose(game))
            task.add_done_callback(partial(self._finished, game))

    def call_hook(self, game: RunningGame, hook: Hook) -> None:  # noqa: ARG002 - hooks never wait here
        run_hook(hook)

    def cancel(self, games: Sequence[RunningGame]) -> None:
        for game in games:
            if task := self._tasks.get(game):
                task.cancel()

    def _finished(self, game: RunningGame, task: asyncio.Task[None]) -> None:
        if self._tasks.get(game) is task:
            del self._tasks[game]

    async def _choose(self, game: RunningGame) -> None:
        game.send(await _answer(self._bot, game))


class BatchSearcher(Searcher):
    """Calls ``choose_many``: gathers what comes during a batch, and makes it the next batch.

    Batches are searched in a thread, or on the event loop where there are no threads.
    """

    def __init__(self, bot: Bot, single: Searcher | None, threads: SearchThreads | None) -> None:
        self._bot = bot
        self._single = single  # what to fall back on when a batch fails
        self._threads = threads
        self._hooks: list[Hook] = []
        self._waiting: list[RunningGame] = []
        self._batch: Sequence[RunningGame] = ()
        self._task: asyncio.Task[_Batch] | None = None
        self._busy = False

    def search(self, games: Sequence[RunningGame]) -> None:
        self._waiting.extend(games)
        self._schedule()

    def call_hook(self, game: RunningGame, hook: Hook) -> None:  # noqa: ARG002 - one order for all games
        if self._threads is None:
            run_hook(hook)
        else:
            self._hooks.append(hook)
            self._schedule()

    def cancel(self, games: Sequence[RunningGame]) -> None:
        if self._single is not None:
            self._single.cancel(games)
        if self._task is not None and not any(game.running for game in self._batch):
            self._task.cancel()

    def _schedule(self) -> None:
        if not self._busy:
            self._busy = True
            asyncio.get_running_loop().call_soon(self._start)

    def _start(self) -> None:
        hooks, self._hooks = self._hooks, []
        self._batch = [game for game in self._waiting if game.running]
        self._waiting = []
        if not (hooks or self._batch):
            self._busy = False
        elif self._threads is not None:
            self._threads.run(partial(self._choose, hooks, self._batch), self._finished)
        else:
            self._task = asyncio.create_task(_answer_batch(self._bot, self._batch, asyncio.gather))
            self._task.add_done_callback(self._done)

    def _choose(self, hooks: Sequence[Hook], games: Sequence[RunningGame]) -> _Batch:
        for hook in hooks:
            run_hook(hook)
        return run_in_thread(_answer_batch(self._bot, games, _one_by_one))

    def _done(self, task: asyncio.Task[_Batch]) -> None:
        self._task = None
        self._finished(() if task.cancelled() else task.result())

    def _finished(self, result: _Batch) -> None:
        if isinstance(result, BaseException):
            self._retry(self._batch, result)
        else:
            for game, action in result:
                game.send(action)
        self._start()

    def _retry(self, games: Sequence[RunningGame], error: BaseException) -> None:
        logger.error("choose_many failed in %d games", len(games), exc_info=error)
        if self._single is not None:
            self._single.search([game for game in games if game.running])
            return
        for game in games:
            game.send(game.failure_action(error))


def searcher_for(bot: Bot, threads: SearchThreads) -> Searcher:
    """The searcher for the methods that `bot` has, plain or ``async``, single or batched."""
    single: Searcher | None = None
    if overrides(bot, "choose"):
        on_loop = inspect.iscoroutinefunction(bot.choose)
        single = TaskSearcher(bot) if on_loop else ThreadSearcher(bot, threads)
    if overrides(bot, "choose_many"):
        on_loop = inspect.iscoroutinefunction(bot.choose_many)
        return BatchSearcher(bot, single, None if on_loop else threads)
    if single is None:
        raise TypeError(f"{type(bot).__name__} needs a choose or a choose_many method")
    return single


async def answer_turn(bot: Bot, game: RunningGame) -> Action:
    """The bot's action in a game that is the only one, by whichever method it has."""
    if overrides(bot, "choose") or game.task is not None:
        return await _answer(bot, game)
    found = await _answer_batch(bot, [game], asyncio.gather)
    return _log_failure(game, found) if isinstance(found, BaseException) else found[0][1]


async def _answer(bot: Bot, game: RunningGame) -> Action:
    """The bot's action in a game where it is to move; whatever it raises is a failure."""
    try:
        if game.task is not None:
            return await game.answer_task(bot)
        answer = await settled(bot.choose(game.turn_position()))
        return game.action_for(answer, bot.choose)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - logged, and the bot lives on
        return _log_failure(game, error)


async def _answer_batch(
    bot: Bot,
    games: Sequence[RunningGame],
    gather: Callable[..., Awaitable[list[Action]]],
) -> _Batch:
    """The bot's actions in many games; those whose opening asks for something have their own."""
    try:
        openings = [game for game in games if game.task is not None]
        others = [game for game in games if game.task is None] if openings else games
        opened = await gather(*(_answer(bot, game) for game in openings)) if openings else []
        answers: Sequence[Answer] = ()
        if others:
            positions = [game.turn_position() for game in others]
            answers = cast("Sequence[Answer]", await settled(bot.choose_many(positions)))
        return [*zip(openings, opened, strict=True), *_actions(bot, others, answers)]
    except (Exception, SystemExit) as error:  # noqa: BLE001 - logged, and the bot lives on
        return error


def _actions(
    bot: Bot, games: Sequence[RunningGame], answers: Sequence[Answer]
) -> list[tuple[RunningGame, Action]]:
    if len(answers) != len(games):
        raise ValueError(f"choose_many returned {len(answers)} answers for {len(games)} positions")
    return [
        (game, game.action_for(answer, bot.choose_many))
        for game, answer in zip(games, answers, strict=True)
    ]


async def _one_by_one(*answers: Coroutine[None, None, Action]) -> list[Action]:
    return [await answer for answer in answers]


def run_hook(hook: Hook) -> None:
    """Call a hook; if it fails, say so and go on."""
    try:
        hook()
    except (Exception, SystemExit):
        logger.exception("a hook failed")


async def end_game(bot: Bot, game_id: str, outcome: Outcome | None) -> None:
    """Call `Bot.game_ended`, which may wait; if it fails, say so and go on."""
    try:
        await settled(bot.game_ended(game_id, outcome))
    except (Exception, SystemExit):
        logger.exception("a hook failed")


def _log_failure(game: RunningGame, error: BaseException) -> Action:
    if isinstance(error, GameFailedError):
        logger.error("failed in game %s: %s", game.position.game_id, error)
    else:
        logger.error("failed in game %s", game.position.game_id, exc_info=error)
    return game.failure_action(error)

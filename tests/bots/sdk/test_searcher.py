"""How a bot's methods are called, game by game."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Sequence
from functools import partial

import pytest
from tests.bots.conftest import Room

from meijin.bots import Bot, GameFailedError, Position
from meijin.bots.sdk.searcher import SearchThreads, searcher_for
from meijin.game import Task

PLACE_THREE = Task(3, may_choose=False)


def number_of(position: Position) -> int:
    """The number of the game; 13 is unlucky, and 15 wants to exit."""
    number = int(position.game_id.removeprefix("game-"))
    if number == 13:
        raise ValueError("unlucky")
    if number == 15:
        sys.exit("bored")
    return number


class ThreadBot(Bot):
    """Answers with the number of the game, and notes what it does and where."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.threads: set[str] = set()

    def choose(self, position: Position) -> int:
        self.note(position.game_id)
        return number_of(position)

    def note(self, text: str) -> None:
        self.notes.append(text)
        self.threads.add(threading.current_thread().name)


class TaskBot(Bot):
    """Answers when every game of a round has been asked for."""

    def __init__(self, round_size: int = 2) -> None:
        self.cancelled: list[int] = []
        self._round_size = round_size
        self._asked = 0
        self._complete = asyncio.Event()

    async def choose(self, position: Position) -> int:
        self._asked += 1
        if self._asked == self._round_size:
            self._complete.set()
        try:
            await self._complete.wait()
        except asyncio.CancelledError:
            self.cancelled.append(number_of(position))
            raise
        return number_of(position)


async def test_one_thread() -> None:
    """Searches take turns in one thread, in the order they were asked for."""
    bot = ThreadBot()
    async with Room(bot) as room:
        room.searcher.search(room.games(1, 2, 3))
        assert await room.answers(3) == {1: 1, 2: 2, 3: 3}
    assert bot.notes == ["game-1", "game-2", "game-3"]
    assert bot.threads == {"search-1"}


async def test_two_threads() -> None:
    """With two threads two games are searched at the same time."""
    meeting = threading.Barrier(2, timeout=20)

    class MeetingBot(Bot):
        def choose(self, position: Position) -> int:
            meeting.wait()
            return number_of(position)

    async with Room(MeetingBot(), threads=2) as room:
        room.searcher.search(room.games(1, 2))
        assert await room.answers(2) == {1: 1, 2: 2}


async def test_one_game_never_has_two_threads() -> None:
    """What is asked for one game happens in order, even with threads to spare."""
    bot = ThreadBot()
    other = threading.Event()
    async with Room(bot, threads=2) as room:
        first, second = room.games(1, 2)
        room.searcher.call_hook(first, lambda: bot.note(f"begin {other.wait(20)}"))
        room.searcher.search([first])
        room.searcher.call_hook(first, partial(bot.note, "end"))
        room.searcher.search([second])
        room.searcher.call_hook(second, other.set)
        assert await room.answers(2) == {1: 1, 2: 2}
    assert bot.notes[:3] == ["game-2", "begin True", "game-1"]


async def test_games_that_end_during_a_search() -> None:
    """One that was searched gets no answer, and one that waited no search."""
    begun, go_on = threading.Event(), threading.Event()

    class SlowBot(ThreadBot):
        def choose(self, position: Position) -> int:
            begun.set()
            go_on.wait(20)
            return super().choose(position)

    bot = SlowBot()
    async with Room(bot) as room:
        games = room.games(1, 2, 3)
        room.searcher.search(games)
        await asyncio.to_thread(begun.wait, 20)
        for game in games[:2]:
            game.running = False
        room.searcher.cancel(games[:2])
        go_on.set()
        assert await room.answers(1) == {3: 3}
    assert bot.notes == ["game-1", "game-3"]


async def test_an_impossible_answer_is_of_its_method(caplog: pytest.LogCaptureFixture) -> None:
    """The author is told where that begins."""

    class WildBot(Bot):
        def choose(self, position: Position) -> int:  # noqa: ARG002 - it never looks
            return 225

    async with Room(WildBot()) as room:
        room.searcher.search(room.games(1))
        await room.answers(1)
    assert "cell 225 is off the 15x15 board (test_searcher.py, line " in caplog.text


@pytest.mark.parametrize("kind", [ThreadBot, TaskBot])
@pytest.mark.parametrize(
    ("number", "words"), [(13, "ValueError: unlucky"), (15, "SystemExit: bored")]
)
async def test_failure_is_of_its_game_alone(
    kind: type[ThreadBot | TaskBot],
    number: int,
    words: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Even of a bot that wants to exit; its traceback is logged."""
    async with Room(kind()) as room:
        room.searcher.search(room.games(number, 2))
        assert await room.answers(2) == {number: words, 2: 2}
    (record,) = caplog.records
    assert f"game-{number}" in record.getMessage()
    assert record.exc_info


async def test_failure_that_tells_all(caplog: pytest.LogCaptureFixture) -> None:
    """A bot that says why it can't go on is logged in a line, without a traceback."""

    class FailingBot(Bot):
        async def choose(self, position: Position) -> int:
            raise GameFailedError(f"out of ideas in {position.game_id}")

    async with Room(FailingBot()) as room:
        room.searcher.search(room.games(7))
        assert await room.answers(1) == {7: "out of ideas in game-7"}
    (record,) = caplog.records
    assert record.getMessage() == "failed in game game-7: out of ideas in game-7"
    assert not record.exc_info


@pytest.mark.parametrize("bot", [ThreadBot(), TaskBot(1)])
async def test_hook_that_fails(bot: Bot, caplog: pytest.LogCaptureFixture) -> None:
    """A hook that fails leaves its traceback in the log, and no trace in the game."""

    def fail() -> None:
        raise ValueError("who?")

    async with Room(bot) as room:
        (game,) = room.games(1)
        room.searcher.call_hook(game, fail)
        room.searcher.search([game])
        assert await room.answers(1) == {1: 1}
    assert "ValueError: who?" in caplog.text


@pytest.mark.parametrize("is_batch", [False, True])
async def test_openings_that_wait(*, is_batch: bool) -> None:
    """Coroutines of several games place their stones at the same time."""

    class Placer(TaskBot):
        async def place_opening(self, position: Position, stones: int) -> Sequence[int]:
            first = await self.choose(position)
            return range(first, first + stones)

    class BatchPlacer(Placer):
        async def choose_many(self, positions: Sequence[Position]) -> Sequence[int]:  # noqa: ARG002 - see Bot
            raise AssertionError("no usual move is asked for")

    async with Room(BatchPlacer(3) if is_batch else Placer(3)) as room:
        room.searcher.search(room.games(1, 13, 3, task=PLACE_THREE))
        assert await room.answers(3) == {1: (1, 2, 3), 13: "ValueError: unlucky", 3: (3, 4, 5)}


@pytest.mark.parametrize("is_batch", [False, True])
async def test_openings_in_a_thread(*, is_batch: bool) -> None:
    """Stones are placed there by plain methods; one that waits is told that it can't."""

    class Placer(ThreadBot):
        def place_opening(self, position: Position, stones: int) -> Sequence[int]:
            return range(number_of(position), number_of(position) + stones)

        async def choose_side(self, position: Position, stones: int) -> Sequence[int]:  # noqa: ARG002 - see Bot
            await asyncio.sleep(0)
            return ()

    class BatchPlacer(Placer):
        def choose_many(self, positions: Sequence[Position]) -> Sequence[int]:
            return [number_of(position) for position in positions]

    async with Room(BatchPlacer() if is_batch else Placer()) as room:
        waits = Task(0, may_choose=True)
        games = [*room.games(1, 13, task=PLACE_THREE), *room.games(2, task=waits), *room.games(3)]
        room.searcher.search(games)
        assert await room.answers(4) == {
            1: (1, 2, 3),
            13: "ValueError: unlucky",
            2: "TypeError: a method that is called in a search thread can't wait",
            3: 3,
        }


async def test_forgotten_task_is_cancelled() -> None:
    """A coroutine whose answer nobody waits for is cancelled."""
    bot = TaskBot(3)
    async with Room(bot) as room:
        ended, running = room.games(1, 2)
        room.searcher.search([ended, running])
        await asyncio.sleep(0)
        ended.running = False
        room.searcher.cancel([ended])
        room.searcher.search(room.games(3))
        assert await room.answers(2) == {2: 2, 3: 3}
    assert bot.cancelled == [1]


def test_bot_without_choose() -> None:
    """A bot that can't choose is told so before it connects, and so is one without threads."""

    class SilentBot(Bot):
        pass

    with pytest.raises(TypeError, match="SilentBot needs a choose or a choose_many method"):
        searcher_for(SilentBot(), SearchThreads())
    with pytest.raises(ValueError, match="1 or more"):
        SearchThreads(0)


def test_result_after_the_event_loop() -> None:
    """A search that outlives its event loop is dropped."""
    release = threading.Event()
    threads = SearchThreads()
    results: list[bool] = []

    async def script() -> None:
        threads.run(lambda: release.wait(20), results.append)

    asyncio.run(script())
    release.set()
    threads.close()
    for thread in threads._threads:
        thread.join(20)
        assert not thread.is_alive()
    assert results == []


class ThreadBatchBot(Bot):
    """Answers with the numbers of the games, in a thread; 14 spoils the answer's length."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.notes: list[str] = []
        self.cancelled = 0
        self.begun = threading.Event()
        self.waits = False
        self.go_on = threading.Event()

    def choose_many(self, positions: Sequence[Position]) -> Sequence[int]:
        assert threading.current_thread() is not threading.main_thread()
        self.note(positions)
        if self.waits:
            self.go_on.wait(20)
        return self.answers(positions)

    def note(self, positions: Sequence[Position]) -> None:
        self.batches.append(len(positions))
        self.notes.append(f"{len(positions)} games")
        self.begun.set()

    def answers(self, positions: Sequence[Position]) -> list[int]:
        for position in positions:
            position.board.play(200)  # and never undone
        numbers = [number_of(position) for position in positions]
        return numbers[1:] if 14 in numbers else numbers


class TaskBatchBot(ThreadBatchBot):
    """Answers with the numbers of the games, on the event loop."""

    async def choose_many(self, positions: Sequence[Position]) -> Sequence[int]:  # type: ignore[override]
        self.note(positions)
        try:
            while self.waits and not self.go_on.is_set():  # noqa: ASYNC110 - an event of threads
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return self.answers(positions)


class ThreadBothBot(ThreadBatchBot):
    """Can answer one by one too; then it answers 100 more."""

    def choose(self, position: Position) -> int:
        assert not position.board.moves
        return 100 + number_of(position)


class TaskBothBot(TaskBatchBot):
    """Can answer one by one too; then it answers 100 more."""

    async def choose(self, position: Position) -> int:
        return 100 + number_of(position)


BATCH_BOTS = (ThreadBatchBot, TaskBatchBot, ThreadBothBot, TaskBothBot)


@pytest.mark.parametrize("kind", BATCH_BOTS)
async def test_batches(kind: type[ThreadBatchBot]) -> None:
    """All that is asked in one tick is a batch, and all that is asked during it the next.

    That is without the games that ended by then.
    """
    bot = kind()
    bot.waits = True
    async with Room(bot) as room:
        room.searcher.search(room.games(1, 2))
        room.searcher.search(room.games(3))
        await asyncio.to_thread(bot.begun.wait, 20)
        ended, other = room.games(4, 5)
        room.searcher.search([ended])
        room.searcher.search([other])
        ended.running = False
        room.searcher.cancel([ended])
        bot.go_on.set()
        assert await room.answers(4) == {1: 1, 2: 2, 3: 3, 5: 5}
    assert bot.batches == [3, 1]


@pytest.mark.parametrize("kind", [ThreadBothBot, TaskBothBot])
@pytest.mark.parametrize(("spoiler", "answer"), [(13, "ValueError: unlucky"), (14, 114)])
async def test_failed_batch_is_retried_one_by_one(
    kind: type[ThreadBatchBot],
    spoiler: int,
    answer: int | str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Where there is a `choose`, one bad game doesn't cost the others."""
    async with Room(kind()) as room:
        room.searcher.search(room.games(1, spoiler))
        assert await room.answers(2) == {1: 101, spoiler: answer}
    assert "choose_many failed in 2 games" in caplog.text


@pytest.mark.parametrize("kind", [ThreadBatchBot, TaskBatchBot])
@pytest.mark.parametrize(
    ("spoiler", "words"),
    [
        (13, "ValueError: unlucky"),
        (14, "ValueError: choose_many returned 1 answers for 2 positions"),
        (15, "SystemExit: bored"),
    ],
)
async def test_failed_batch(kind: type[ThreadBatchBot], spoiler: int, words: str) -> None:
    """Without a `choose`, a batch that fails fails every game in it, and others follow."""
    async with Room(kind()) as room:
        room.searcher.search(room.games(1, spoiler))
        assert await room.answers(2) == {1: words, spoiler: words}
        room.searcher.search(room.games(2))
        assert await room.answers(1) == {2: 2}


@pytest.mark.parametrize("kind", [ThreadBatchBot, TaskBatchBot])
async def test_hooks_come_before_the_batch(kind: type[ThreadBatchBot]) -> None:
    """A game's beginning is told before its first batch, in the same thread."""
    bot = kind()
    async with Room(bot) as room:
        (game,) = room.games(1)
        room.searcher.call_hook(game, partial(bot.notes.append, "begins"))
        room.searcher.search([game])
        await room.answers(1)
        room.searcher.call_hook(game, partial(bot.notes.append, "ends"))
        room.searcher.search(room.games(2))
        await room.answers(1)
    assert bot.notes == ["begins", "1 games", "ends", "1 games"]


@pytest.mark.parametrize("kind", [TaskBatchBot, TaskBothBot])
async def test_forgotten_batch_is_cancelled(kind: type[TaskBatchBot]) -> None:
    """A batch is broken off once nobody waits for any game of it, and others follow."""
    bot = kind()
    bot.waits = True
    async with Room(bot) as room:
        first, second = room.games(1, 2)
        room.searcher.search([first, second])
        await asyncio.to_thread(bot.begun.wait, 20)
        for game in (first, second):
            game.running = False
            room.searcher.cancel([game])
        room.searcher.search(room.games(3))
        bot.go_on.set()
        assert await room.answers(1) == {3: 3}
    assert bot.cancelled == 1

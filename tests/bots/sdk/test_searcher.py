"""How a bot's methods are called, game by game."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import pytest

from meijin.bots import Bot, GameFailedError, Position
from meijin.bots.sdk.batch_searcher import searcher_for
from meijin.bots.sdk.events import OpeningTask
from meijin.bots.sdk.threads import SearchThreads

if TYPE_CHECKING:
    from tests.bots.conftest import InRoom


def number_of(position: Position) -> int:
    """The number of the game."""
    return int(position.game_id.removeprefix("game-"))


class ThreadBot(Bot):
    """Answers with the number of the game, and notes what it does and where."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.threads: set[str] = set()

    def choose(self, position: Position) -> int:
        """Return the number of the game; game 13 is unlucky."""
        self.note(position.game_id)
        if number_of(position) == 13:
            raise SystemExit("unlucky")
        return number_of(position)

    def note(self, text: str) -> None:
        """Take a note."""
        self.notes.append(text)
        self.threads.add(threading.current_thread().name)


class TaskBot(Bot):
    """Answers when every game of a round has been asked for."""

    def __init__(self, round_size: int) -> None:
        self.cancelled: list[int] = []
        self._round_size = round_size
        self._asked = 0
        self._complete = asyncio.Event()

    async def choose(self, position: Position) -> int:
        """Return the number of the game; game 13 is unlucky."""
        self._asked += 1
        if self._asked == self._round_size:
            self._complete.set()
        try:
            await self._complete.wait()
        except asyncio.CancelledError:
            self.cancelled.append(number_of(position))
            raise
        if number_of(position) == 13:
            raise ValueError("unlucky")
        return number_of(position)


async def test_one_thread(in_room: InRoom) -> None:
    """Searches take turns in one thread, in the order they were asked for."""
    bot = ThreadBot()
    async with in_room(bot) as room:
        room.searcher.search(room.games(1, 2, 3))
        assert await room.answers(3) == {1: 1, 2: 2, 3: 3}
    assert bot.notes == ["game-1", "game-2", "game-3"]
    assert bot.threads == {"search-1"}


async def test_two_threads(in_room: InRoom) -> None:
    """With two threads two games are searched at the same time."""
    meeting = threading.Barrier(2, timeout=20)

    class MeetingBot(Bot):
        def choose(self, position: Position) -> int:
            meeting.wait()
            return number_of(position)

    async with in_room(MeetingBot(), threads=2) as room:
        room.searcher.search(room.games(1, 2))
        assert await room.answers(2) == {1: 1, 2: 2}


async def test_one_game_never_has_two_threads(in_room: InRoom) -> None:
    """What is asked for one game happens in order, even with threads to spare."""
    bot = ThreadBot()
    other = threading.Event()
    async with in_room(bot, threads=2) as room:
        first, second = room.games(1, 2)
        room.searcher.call_hook(first, lambda: bot.note(f"begin {other.wait(20)}"))
        room.searcher.search([first])
        room.searcher.call_hook(first, partial(bot.note, "end"))
        room.searcher.search([second])
        room.searcher.call_hook(second, other.set)
        assert await room.answers(2) == {1: 1, 2: 2}
    assert bot.notes[:3] == ["game-2", "begin True", "game-1"]


async def test_exit_is_a_failure(in_room: InRoom) -> None:
    """Even a bot that wants to exit only forfeits that game."""
    async with in_room(ThreadBot()) as room:
        room.searcher.search(room.games(13, 2))
        assert await room.answers(2) == {13: "SystemExit: unlucky", 2: 2}


async def test_hook_that_fails(in_room: InRoom, caplog: pytest.LogCaptureFixture) -> None:
    """A hook that fails leaves its traceback in the log, and no trace in the game."""

    def fail() -> None:
        raise ValueError("who?")

    async with in_room(ThreadBot()) as room:
        (game,) = room.games(1)
        room.searcher.call_hook(game, fail)
        room.searcher.search([game])
        assert await room.answers(1) == {1: 1}
    assert "ValueError: who?" in caplog.text


async def test_tasks(in_room: InRoom) -> None:
    """Coroutines of several games run at the same time."""
    async with in_room(TaskBot(3)) as room:
        room.searcher.search(room.games(1, 2))
        room.searcher.search(room.games(3))
        assert await room.answers(3) == {1: 1, 2: 2, 3: 3}


async def test_task_that_fails(in_room: InRoom) -> None:
    """A coroutine that raises fails its own game."""
    async with in_room(TaskBot(2)) as room:
        room.searcher.search(room.games(13, 2))
        assert await room.answers(2) == {13: "ValueError: unlucky", 2: 2}


async def test_task_that_exits(in_room: InRoom) -> None:
    """A coroutine that wants to exit only forfeits its own game."""

    class ExitingBot(Bot):
        async def choose(self, position: Position) -> int:
            if number_of(position) == 13:
                sys.exit("unlucky")
            return number_of(position)

    async with in_room(ExitingBot()) as room:
        room.searcher.search(room.games(13, 2))
        assert await room.answers(2) == {13: "SystemExit: unlucky", 2: 2}


async def test_failure_that_tells_all(in_room: InRoom, caplog: pytest.LogCaptureFixture) -> None:
    """A bot that says why it can't go on is logged in a line, without a traceback."""

    class FailingBot(Bot):
        async def choose(self, position: Position) -> int:
            raise GameFailedError(f"out of ideas in {position.game_id}")

    async with in_room(FailingBot()) as room:
        room.searcher.search(room.games(7))
        assert await room.answers(1) == {7: "out of ideas in game-7"}
    (record,) = caplog.records
    assert record.getMessage() == "failed in game game-7: out of ideas in game-7"
    assert not record.exc_info


@pytest.mark.parametrize("is_batch", [False, True])
async def test_openings_that_wait(in_room: InRoom, *, is_batch: bool) -> None:
    """Coroutines of several games place their stones at the same time."""

    class Placer(TaskBot):
        async def place_opening(self, position: Position, stones: int) -> Sequence[int]:
            first = await self.choose(position)
            return range(first, first + stones)

    class BatchPlacer(Placer):
        async def choose_many(self, positions: Sequence[Position]) -> Sequence[int]:  # noqa: ARG002 - see Bot
            raise AssertionError("no usual move is asked for")

    async with in_room(BatchPlacer(3) if is_batch else Placer(3)) as room:
        room.searcher.search(room.games(1, 13, 3, task=OpeningTask(3, may_choose=False)))
        assert await room.answers(3) == {1: (1, 2, 3), 13: "ValueError: unlucky", 3: (3, 4, 5)}


async def test_forgotten_task_is_cancelled(in_room: InRoom) -> None:
    """A coroutine whose answer nobody waits for is cancelled."""
    bot = TaskBot(3)
    async with in_room(bot) as room:
        ended, running = room.games(1, 2)
        room.searcher.search([ended, running])
        await asyncio.sleep(0)
        ended.running = False
        room.searcher.cancel([ended])
        room.searcher.search(room.games(3))
        assert await room.answers(2) == {2: 2, 3: 3}
    assert bot.cancelled == [1]


def test_bot_without_choose() -> None:
    """A bot that can't choose is told so before it connects."""

    class SilentBot(Bot):
        pass

    with pytest.raises(TypeError, match="SilentBot needs a choose or a choose_many method"):
        searcher_for(SilentBot(), SearchThreads())

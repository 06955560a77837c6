"""How a bot's `choose_many` is called."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import pytest

from meijin.bots import Bot, Position

if TYPE_CHECKING:
    from tests.bots.conftest import InRoom


def number_of(position: Position) -> int:
    """The number of the game."""
    return int(position.game_id.removeprefix("game-"))


def answer_all(positions: Sequence[Position]) -> list[int]:
    """The number of each game; 13 spoils the batch, 14 the answer's length, and 15 exits."""
    numbers = [number_of(position) for position in positions]
    for position in positions:
        position.board.play(200)  # and never undone
    if 13 in numbers:
        raise ValueError("unlucky")
    if 15 in numbers:
        sys.exit("bored")
    return numbers[1:] if 14 in numbers else numbers


class ThreadBatchBot(Bot):
    """Answers with the numbers of the games, in a thread."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.notes: list[str] = []
        self.begun = threading.Event()
        self.go_on = threading.Event()
        self.go_on.set()

    def choose_many(self, positions: Sequence[Position]) -> Sequence[int]:
        """Return the numbers."""
        assert threading.current_thread() is not threading.main_thread()
        self.notes.append(f"{len(positions)} games")
        self.batches.append([number_of(position) for position in positions])
        self.begun.set()
        self.go_on.wait(20)
        return answer_all(positions)


class TaskBatchBot(Bot):
    """Answers with the numbers of the games, on the event loop."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.cancelled = 0
        self.begun = threading.Event()
        self.go_on = asyncio.Event()
        self.go_on.set()

    async def choose_many(self, positions: Sequence[Position]) -> Sequence[int]:
        """Return the numbers."""
        self.batches.append([number_of(position) for position in positions])
        self.begun.set()
        try:
            await self.go_on.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return answer_all(positions)


class ThreadBothBot(ThreadBatchBot):
    """Can answer one by one too; then it answers 100 more."""

    def choose(self, position: Position) -> int:
        """Return the number and 100."""
        assert not position.board.moves
        if number_of(position) == 13:
            raise ValueError("still unlucky")
        return 100 + number_of(position)


class TaskBothBot(TaskBatchBot):
    """Can answer one by one too; then it answers 100 more."""

    async def choose(self, position: Position) -> int:
        """Return the number and 100."""
        if number_of(position) == 13:
            raise ValueError("still unlucky")
        return 100 + number_of(position)


BATCH_BOTS = (ThreadBatchBot, TaskBatchBot, ThreadBothBot, TaskBothBot)
BOTH_BOTS = (ThreadBothBot, TaskBothBot)


@pytest.mark.parametrize("kind", BATCH_BOTS)
async def test_one_batch(in_room: InRoom, kind: type[ThreadBatchBot | TaskBatchBot]) -> None:
    """All that is asked for in one tick of the event loop is one batch."""
    bot = kind()
    async with in_room(bot) as room:
        room.searcher.search(room.games(1, 2))
        room.searcher.search(room.games(3))
        assert await room.answers(3) == {1: 1, 2: 2, 3: 3}
    assert bot.batches == [[1, 2, 3]]


@pytest.mark.parametrize("kind", BATCH_BOTS)
async def test_next_batch(in_room: InRoom, kind: type[ThreadBatchBot | TaskBatchBot]) -> None:
    """What comes during a batch is the next one, without the games that ended by then."""
    bot = kind()
    bot.go_on.clear()
    async with in_room(bot) as room:
        room.searcher.search(room.games(1))
        await asyncio.to_thread(bot.begun.wait, 20)
        ended, other = room.games(2, 3)
        room.searcher.search([ended])
        room.searcher.search([other])
        ended.running = False
        room.searcher.cancel([ended])
        bot.go_on.set()
        assert await room.answers(2) == {1: 1, 3: 3}
    assert bot.batches == [[1], [3]]


@pytest.mark.parametrize("kind", BOTH_BOTS)
@pytest.mark.parametrize("spoiler", [13, 14])
async def test_failed_batch_is_retried_one_by_one(
    in_room: InRoom,
    kind: type[ThreadBothBot | TaskBothBot],
    spoiler: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Where there is a `choose`, one bad game doesn't cost the others."""
    async with in_room(kind()) as room:
        room.searcher.search(room.games(1, spoiler))
        expected = {13: "ValueError: still unlucky", 14: 114}
        assert await room.answers(2) == {1: 101, spoiler: expected[spoiler]}
    assert "choose_many failed in 2 games" in caplog.text


@pytest.mark.parametrize("kind", [ThreadBatchBot, TaskBatchBot])
async def test_failed_batch(in_room: InRoom, kind: type[ThreadBatchBot | TaskBatchBot]) -> None:
    """Without a `choose`, a batch that fails fails every game in it."""
    async with in_room(kind()) as room:
        room.searcher.search(room.games(1, 13))
        error = "ValueError: unlucky"
        assert await room.answers(2) == {1: error, 13: error}
        room.searcher.search(room.games(2, 14))
        error = "ValueError: choose_many returned 1 answers for 2 positions"
        assert await room.answers(2) == {2: error, 14: error}
        room.searcher.search(room.games(3, 15))
        error = "SystemExit: bored"
        assert await room.answers(2) == {3: error, 15: error}


async def test_hooks_come_before_the_batch(in_room: InRoom) -> None:
    """A game's beginning is told before its first batch, in the same thread."""
    bot = ThreadBatchBot()
    async with in_room(bot) as room:
        (game,) = room.games(1)
        room.searcher.call_hook(game, partial(bot.notes.append, "begins"))
        room.searcher.search([game])
        await room.answers(1)
        room.searcher.call_hook(game, partial(bot.notes.append, "ends"))
        room.searcher.search(room.games(2))
        await room.answers(1)
    assert bot.notes == ["begins", "1 games", "ends", "1 games"]


@pytest.mark.parametrize("kind", [TaskBatchBot, TaskBothBot])
async def test_forgotten_batch_is_cancelled(in_room: InRoom, kind: type[TaskBatchBot]) -> None:
    """A batch is broken off once nobody waits for any game of it, and others follow."""
    bot = kind()
    bot.go_on.clear()
    async with in_room(bot) as room:
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

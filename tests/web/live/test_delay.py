"""What is held back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from datetime import timedelta

import pytest

from meijin.game import encode_moves
from meijin.v1.game_service_pb2 import GameEvaluation, GameUpdate, WatchArenaResponse
from meijin.web.live.delay import DelayLine, held_back
from meijin.web.live.topics import MAX_HELD, Topic

DELAY = timedelta(seconds=10)


def message(cell: int, *, thought: bool = False) -> WatchArenaResponse:
    update = GameUpdate(game_id="1", moves=encode_moves((cell,)))
    if thought:
        update.black_evaluation.CopyFrom(GameEvaluation(ply=cell))
    return WatchArenaResponse(games=[update])


def test_moves_are_held_back_and_thoughts_longer() -> None:
    """Twice as long, each by itself."""
    now = 100.0
    line = DelayLine(DELAY, lambda: now)
    assert line.wait() is None
    line.put(message(3, thought=True))
    assert line.wait() == 10
    now += 10
    assert line.wait() == 0
    assert line.pop() == message(3)
    assert line.wait() == 10
    now += 10
    (thought,) = line.pop().games
    assert (thought.game_id, thought.black_evaluation.ply, thought.moves) == ("1", 3, b"")
    assert line.wait() is None


def test_a_move_goes_before_an_older_thought() -> None:
    now = 0.0
    line = DelayLine(DELAY, lambda: now)
    line.put(message(3, thought=True))
    now = 5.0
    line.put(message(4))
    assert [line.pop().games[0].moves for _ in range(3)] == [
        encode_moves((3,)),
        encode_moves((4,)),
        b"",
    ]


async def source(*messages: WatchArenaResponse) -> AsyncIterator[WatchArenaResponse]:
    for each in messages:
        yield each
        await asyncio.sleep(0)


async def test_all_that_is_held_is_told_after_the_end() -> None:
    line = DelayLine(timedelta(seconds=0.01))
    found = [each async for each in held_back(source(message(1), message(2)), line)]
    assert found == [message(1), message(2)]


async def test_a_failure_is_told() -> None:
    """As it would be without the delay."""

    async def failing() -> AsyncIterator[WatchArenaResponse]:
        yield message(1)
        raise ValueError("broken")

    late = held_back(failing(), DelayLine(timedelta(0)))
    assert await anext(late) == message(1)
    with pytest.raises(ValueError, match="broken"):
        await anext(late)


async def test_nobody_reads_on_for_one_who_leaves() -> None:
    """The source ends with the last who follows it."""
    has_ended = asyncio.Event()

    async def endless() -> AsyncGenerator[WatchArenaResponse]:
        try:
            while True:
                yield message(1)
                await asyncio.sleep(0.001)
        finally:
            has_ended.set()

    messages = endless()
    async with (
        aclosing(messages),
        aclosing(held_back(messages, DelayLine(timedelta(0)))) as late,
    ):
        await anext(late)
    assert has_ended.is_set()


@pytest.mark.parametrize(("seconds", "rate"), [(0, 4), (60, 4), (3600, MAX_HELD / 3600)])
def test_a_long_delay_has_fewer_frames(seconds: int, rate: float) -> None:
    """So that no more is held back than there is room for."""
    request = Topic.parse("game:1").request(timedelta(seconds=seconds))
    assert request.max_rate == pytest.approx(rate)

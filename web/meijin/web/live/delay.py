"""Delays: what happens in the games is held back, and what the bots think of it longer."""

import asyncio
import heapq
import itertools
import time
from collections.abc import AsyncGenerator, AsyncIterable, Callable
from contextlib import suppress
from datetime import timedelta

from meijin.v1.game_service_pb2 import GameUpdate, WatchArenaResponse

THOUGHTS_FACTOR = 2
"""By how much longer thoughts are held back than moves: who plays elsewhere is not to be helped."""


class DelayLine:
    """What is held back, in the order in which it is due."""

    def __init__(self, delay: timedelta, clock: Callable[[], float] = time.monotonic) -> None:
        self._delay = delay.total_seconds()
        self._clock = clock
        self._numbers = itertools.count()
        self._held: list[tuple[float, int, WatchArenaResponse]] = []

    def put(self, message: WatchArenaResponse) -> None:
        """Hold a message back: its moves for the delay, its thoughts longer."""
        now = self._clock()
        self._add(now + self._delay, without_thoughts(message))
        thoughts = thoughts_of(message)
        if thoughts.games:
            self._add(now + THOUGHTS_FACTOR * self._delay, thoughts)

    def wait(self) -> float | None:
        """The seconds until something is due; ``None`` where nothing is held."""
        return max(self._held[0][0] - self._clock(), 0) if self._held else None

    def pop(self) -> WatchArenaResponse:
        return heapq.heappop(self._held)[2]

    def _add(self, due: float, message: WatchArenaResponse) -> None:
        heapq.heappush(self._held, (due, next(self._numbers), message))


def without_thoughts(message: WatchArenaResponse) -> WatchArenaResponse:
    kept = WatchArenaResponse()
    kept.CopyFrom(message)
    for update in kept.games:
        update.ClearField("black_evaluation")
        update.ClearField("white_evaluation")
    return kept


def thoughts_of(message: WatchArenaResponse) -> WatchArenaResponse:
    games = []
    for update in message.games:
        kept = GameUpdate(game_id=update.game_id, variant=update.variant)
        if update.HasField("black_evaluation"):
            kept.black_evaluation.CopyFrom(update.black_evaluation)
        if update.HasField("white_evaluation"):
            kept.white_evaluation.CopyFrom(update.white_evaluation)
        if kept.HasField("black_evaluation") or kept.HasField("white_evaluation"):
            games.append(kept)
    return WatchArenaResponse(games=games, running=message.running)


async def held_back(
    messages: AsyncIterable[WatchArenaResponse], line: DelayLine
) -> AsyncGenerator[WatchArenaResponse]:
    """Messages when they are due, to the last that is held."""
    put = asyncio.Event()

    async def read() -> None:
        async for message in messages:
            line.put(message)
            put.set()

    reading = asyncio.create_task(read())
    reading.add_done_callback(lambda _: put.set())
    try:
        while (wait := line.wait()) is not None or not reading.done():
            if wait == 0:
                yield line.pop()
                continue
            put.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await put.wait()
        reading.result()
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)

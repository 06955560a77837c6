"""A share of the event loop: work that goes on forever, slice by slice, beside the games."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

SHARE = 0.1
"""Of the event loop's time, for all such work together."""

SLICE = timedelta(milliseconds=1)
"""The longest that the loop is held at once, but for what can't be divided."""

BURST = timedelta(milliseconds=100)
"""How long before now time may have been left that is made use of."""


class LoopShare:
    """Lets slices of work have their turns, so that they take a share of the loop's time."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._free_at = clock()

    async def turn(self) -> None:
        """Wait until there is time for a slice; others have theirs meanwhile in any case."""
        await self._sleep(0)
        while (wait := self._free_at - self._clock()) > 0:
            await self._sleep(wait)

    @contextmanager
    def slice(self) -> Iterator[Callable[[], bool]]:
        """Do a slice of work, which asks now and then whether it is to end."""
        began = self._clock()
        end = began + SLICE.total_seconds()
        try:
            yield lambda: self._clock() >= end
        finally:
            free_at = max(self._free_at, began - BURST.total_seconds())
            self._free_at = free_at + (self._clock() - began) / SHARE

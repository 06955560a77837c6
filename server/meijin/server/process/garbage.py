"""The garbage collector, kept from looking at all objects of a full server at once.

Reference counts free nearly everything here: 512 streams and the games of half a minute left 2,800
objects to the collector, nearly all of them gRPC's own from the beginning of a call. But a full
collection goes through every object that is alive, 0.1 s for a million, and all threads stand
still meanwhile.
"""

import asyncio
import gc
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from time import thread_time_ns
from typing import Self

OLDEST = 2
"""The generation that only a full collection looks at."""

LONG_NS = 2_000_000
"""What a full collection that takes longer has found alive is frozen: the next leaves it out."""

FULL_AFTER = 1
"""Collections of the middle generation after which the next makes a full one due: at 14,000 new
objects, 1.5 ms. By Python's default it is 10."""

THAW_INTERVAL = timedelta(hours=1)
"""Between two looks at what is frozen, for garbage; while games run there is none."""


class GarbageCollector(AbstractContextManager["GarbageCollector"]):
    """Freezes what is alive, now and whenever a full collection has taken long."""

    def __init__(self) -> None:
        self._began_ns = 0

    def __enter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._threshold = gc.get_threshold()
        gc.set_threshold(*self._threshold[:2], FULL_AFTER)
        gc.freeze()
        gc.collect()
        gc.callbacks.append(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        gc.callbacks.remove(self._note)
        gc.set_threshold(*self._threshold)

    async def run(self, is_idle: Callable[[], bool]) -> None:
        """Look at everything again now and then, if the server is idle."""
        while True:
            await asyncio.sleep(THAW_INTERVAL.total_seconds())
            if is_idle():
                gc.unfreeze()
                gc.collect()

    def _note(self, phase: str, info: dict[str, int]) -> None:
        """Hear that a collection begins or has ended, on whichever thread it is."""
        if phase == "start":
            self._began_ns = thread_time_ns()
        elif info["generation"] == OLDEST and thread_time_ns() - self._began_ns > LONG_NS:
            gc.freeze()
            # It found much, and waits for a quarter more; one that finds nothing makes it forget.
            self._loop.call_soon_threadsafe(gc.collect)

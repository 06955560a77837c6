"""The thread pool of searches, beside the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import TypeVar

_Result = TypeVar("_Result")


class SearchThreads:
    """Runs jobs in the order given, on daemon threads: a search never holds up the exit."""

    def __init__(self, count: int = 1) -> None:
        if count < 1:
            raise ValueError(f"{count} threads can't search; give 1 or more")
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads = [
            Thread(target=self._work, name=f"search-{number}", daemon=True)
            for number in range(1, count + 1)
        ]
        self._running = False

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._threads)

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

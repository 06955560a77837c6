"""Sending jobs to workers in other processes, on a thread of its own."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from meijin.ladder.job_queue import JobQueue

SEND_INTERVAL = timedelta(milliseconds=250)
"""Between two sends: what changes meanwhile shares a job."""

K = TypeVar("K", bound=int)


def open_admission_queue(url: str) -> "JobQueue":
    # The client of Redis takes 0.18 s of processor time to import, for which no bot waits.
    from meijin.ladder.admission_queue import open_admission_queue  # noqa: PLC0415

    return open_admission_queue(url)


class JobSender(Generic[K]):
    """Enqueues a job for each number that is sent.

    A job that is lost does no harm: the worker looks for itself every few seconds.
    """

    def __init__(self, redis_url: str, open_queue: Callable[[str], "JobQueue"]) -> None:
        self._redis_url = redis_url
        self._open_queue = open_queue
        self._queue: JobQueue | None = None
        self._is_open = asyncio.Event()
        self._keys: set[K] = set()
        self._wake = asyncio.Event()

    async def run(self) -> None:
        queue = self._queue = await asyncio.to_thread(self._open_queue, self._redis_url)
        self._is_open.set()
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                keys, self._keys = self._keys, set()
                for key in sorted(keys):
                    await asyncio.to_thread(queue.enqueue, key)
                await asyncio.sleep(SEND_INTERVAL.total_seconds())
        finally:
            queue.close()

    def send(self, key: K) -> None:
        self._keys.add(key)
        self._wake.set()

    async def queue_length(self) -> int | None:
        """How many jobs wait for a worker; ``None`` while Redis does not answer."""
        await self._is_open.wait()
        assert self._queue is not None
        return await asyncio.to_thread(self._queue.length)

"""Sending refresh jobs to the ladders' worker when games have ended."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from meijin.server.match.live.listeners import Listener
from meijin.server.match.live.live_game import LiveGame
from meijin.store.schema import LadderId

if TYPE_CHECKING:
    from meijin.ladder.refresh_queue import RefreshQueue

SEND_INTERVAL = timedelta(milliseconds=250)
"""Between two sends: a ladder's games share a job."""


def _open_queue(url: str) -> "RefreshQueue":
    # The client of Redis takes 0.18 s of processor time to import, for which no bot waits.
    from meijin.ladder.refresh_queue import RefreshQueue  # noqa: PLC0415

    return RefreshQueue(url)


class RefreshSender(Listener):
    """Enqueues a refresh job for each ladder whose games have ended, on a thread of its own.

    A job that is lost does no harm: the worker looks for itself every few seconds.
    """

    def __init__(
        self, redis_url: str, open_queue: Callable[[str], "RefreshQueue"] = _open_queue
    ) -> None:
        self._redis_url = redis_url
        self._open_queue = open_queue
        self._queue: RefreshQueue | None = None
        self._is_open = asyncio.Event()
        self._ladders: set[LadderId] = set()
        self._wake = asyncio.Event()

    async def run(self) -> None:
        queue = self._queue = await asyncio.to_thread(self._open_queue, self._redis_url)
        self._is_open.set()
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                ladders, self._ladders = self._ladders, set()
                for ladder_id in sorted(ladders):
                    await asyncio.to_thread(queue.enqueue, ladder_id)
                await asyncio.sleep(SEND_INTERVAL.total_seconds())
        finally:
            queue.close()

    def game_ended(self, game: LiveGame) -> None:
        if game.ladder_id is not None:
            self.ladder_changed(game.ladder_id)

    def ladder_changed(self, ladder_id: LadderId) -> None:
        self._ladders.add(ladder_id)
        self._wake.set()

    async def queue_length(self) -> int | None:
        """How many jobs wait for a worker; ``None`` while Redis does not answer."""
        await self._is_open.wait()
        assert self._queue is not None
        return await asyncio.to_thread(self._queue.length)

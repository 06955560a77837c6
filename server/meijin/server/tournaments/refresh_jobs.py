"""Sending refresh jobs to the ladders' worker when games have ended."""

import asyncio
from datetime import timedelta

from meijin.ladder.refresh_queue import RefreshQueue
from meijin.server.match.listeners import Listener
from meijin.server.match.live_game import LiveGame
from meijin.store.schema import LadderId

SEND_INTERVAL = timedelta(milliseconds=250)
"""Between two sends: a ladder's games share a job."""


class RefreshSender(Listener):
    """Enqueues a refresh job for each ladder whose games have ended, on a thread of its own.

    A job that is lost does no harm: the worker looks for itself every few seconds.
    """

    def __init__(self, redis_url: str) -> None:
        self._queue = RefreshQueue(redis_url)
        self._ladders: set[LadderId] = set()
        self._wake = asyncio.Event()

    async def run(self) -> None:
        """Send jobs until it is cancelled."""
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                ladders, self._ladders = self._ladders, set()
                for ladder_id in sorted(ladders):
                    await asyncio.to_thread(self._queue.enqueue, ladder_id)
                await asyncio.sleep(SEND_INTERVAL.total_seconds())
        finally:
            self._queue.close()

    def game_ended(self, game: LiveGame) -> None:
        """The game's ladder has changed."""
        if game.ladder_id is not None:
            self.ladder_changed(game.ladder_id)

    def ladder_changed(self, ladder_id: LadderId) -> None:
        """Send a job for the ladder soon."""
        self._ladders.add(ladder_id)
        self._wake.set()

    async def queue_length(self) -> int | None:
        """How many jobs wait for a worker; ``None`` while Redis does not answer."""
        return await asyncio.to_thread(self._queue.length)

"""Hints to the ladders' worker that games have ended."""

import asyncio

from meijin.ladder.hints import Hints
from meijin.server.match.listeners import Listener
from meijin.server.match.live_game import LiveGame
from meijin.store.schema import LadderId

PAUSE = 0.25
"""Seconds between two hints: a ladder's games are told of together."""


class HintSender(Listener):
    """Sends a hint for each ladder whose games have ended, on a thread of its own.

    A hint that is lost does no harm: the worker looks for itself every few seconds.
    """

    def __init__(self, redis_url: str) -> None:
        self._hints = Hints(redis_url)
        self._ladders: set[LadderId] = set()
        self._wake = asyncio.Event()

    async def run(self) -> None:
        """Send hints for ever."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            ladders, self._ladders = self._ladders, set()
            for ladder_id in sorted(ladders):
                await asyncio.to_thread(self._hints.hint, ladder_id)
            await asyncio.sleep(PAUSE)

    def game_ended(self, game: LiveGame) -> None:
        """The game's ladder has changed."""
        if game.run.ladder_id is not None:
            self.ladder_changed(game.run.ladder_id)

    def ladder_changed(self, ladder_id: LadderId) -> None:
        """Send a hint for the ladder soon."""
        self._ladders.add(ladder_id)
        self._wake.set()

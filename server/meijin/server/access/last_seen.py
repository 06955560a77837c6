"""When bots were last seen: those that are connected are noted twice a minute."""

import asyncio
from datetime import UTC, datetime, timedelta

from meijin.server.errors import StoreAwayError
from meijin.server.match.lobby import Lobby
from meijin.server.storage import Storage
from meijin.store.bots import set_last_seen

INTERVAL = timedelta(seconds=30)
"""So much earlier than it left a bot may seem to have been seen last."""

AT_ONCE = 500
"""Bots of one commit, 2 ms: moves wait for it, and 10,000 bots at once took 22 ms."""


class LastSeen:
    """Keeps when a stream of each bot was open; a bot that comes is noted as it is let in."""

    def __init__(self, storage: Storage, lobby: Lobby) -> None:
        self._storage = storage
        self._lobby = lobby

    async def note(self) -> None:
        """Note who is connected now; while the database is away nobody is."""
        bots = [session.player.bot_id for session in self._lobby.sessions]
        now = datetime.now(UTC)
        for first in range(0, len(bots), AT_ONCE):
            part = bots[first : first + AT_ONCE]
            try:
                await self._storage.write(set_last_seen, bots=part, time=now)
            except StoreAwayError:
                return

    async def run(self) -> None:
        while True:
            await asyncio.sleep(INTERVAL.total_seconds())
            await self.note()

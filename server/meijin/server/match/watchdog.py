"""What is looked at now and then instead of having a timer of its own."""

import asyncio
import itertools
from datetime import timedelta

from meijin.server.errors import NotReadingError
from meijin.server.match.arbiter import SECOND
from meijin.server.match.games import Games
from meijin.server.match.lobby import Lobby
from meijin.server.match.stalls import INTERVAL, StallWatch

SWEEPS_PER_EXPIRY = 2
"""Ticks of the stall watch between two looks at all clocks: deadlines are seen to 40 ms."""

PING_INTERVAL = 5.0
"""Seconds between two measurements of a stream's lag."""

LOOKS_PER_PATIENCE = 5
"""Looks for deaf peers in the time that they have to read a message."""


class Watchdog:
    """Watches the clocks, the lag and the deaf peers.

    One look serves all games: a timer for each move or write costs 5 microseconds.
    """

    def __init__(
        self, watch: StallWatch, lobby: Lobby, games: Games, *, patience: timedelta
    ) -> None:
        self._watch = watch
        self._lobby = lobby
        self._games = games
        self._patience = patience.total_seconds()

    async def watch_clocks(self) -> None:
        """End games whose time has run out, for ever."""
        for count in itertools.count():
            await asyncio.sleep(INTERVAL / SECOND)
            moment = self._watch.tick()
            if count % SWEEPS_PER_EXPIRY == 0:
                self._games.expire(moment)

    async def measure_lag(self) -> None:
        """Ping every stream, for ever."""
        while True:
            await asyncio.sleep(PING_INTERVAL)
            for session in self._lobby.sessions:
                session.ping()

    async def drop_stalled_streams(self) -> None:
        """Close the streams whose peers do not read, for ever."""
        while True:
            await asyncio.sleep(self._patience / LOOKS_PER_PATIENCE)
            now = self._watch.moment().now
            for session in self._lobby.sessions:
                since = session.writing_since
                if since is not None and now - since > self._patience * SECOND:
                    words = f"nothing was read for {self._patience:g} s"
                    session.close(NotReadingError(words))

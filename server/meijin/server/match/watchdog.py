"""The watchdog: what is looked at now and then instead of having a timer of its own."""

import asyncio
import itertools
from datetime import timedelta

from meijin.server.errors import NotReadingError
from meijin.server.match.games import Games
from meijin.server.match.incidents import Incidents
from meijin.server.match.lobby import Lobby
from meijin.server.match.silence import SilenceWatch
from meijin.server.match.stalls import NS_PER_SECOND, TICK_INTERVAL_NS, StallWatch

TICKS_PER_EXPIRY = 4
"""Ticks of the stall watch between two looks at all clocks: deadlines are seen to 40 ms."""

PING_INTERVAL = timedelta(seconds=5)
"""Between two measurements of a stream's lag."""

LOOKS_PER_WRITE_TIMEOUT = 5
"""Looks for slow consumers in the time that they have to read a message."""


class Watchdog:
    """Watches the clocks, the lag and the slow consumers.

    One look serves all games: a timer for each move or write costs 5 microseconds.
    """

    def __init__(
        self,
        watch: StallWatch,
        lobby: Lobby,
        games: Games,
        incidents: Incidents,
        silence: SilenceWatch,
        *,
        write_timeout: timedelta,
    ) -> None:
        self._watch = watch
        self._lobby = lobby
        self._games = games
        self._incidents = incidents
        self._silence = silence
        self._write_timeout = write_timeout

    async def watch_clocks(self) -> None:
        """Flag fall: end games whose time has run out, for ever."""
        for count in itertools.count():
            await asyncio.sleep(TICK_INTERVAL_NS / NS_PER_SECOND)
            moment = self._watch.tick()
            if count % TICKS_PER_EXPIRY == 0:
                is_flag_up = self._games.expire(moment)
                self._silence.look(moment, is_flag_up=is_flag_up)
                self._incidents.look(moment)

    async def measure_lag(self) -> None:
        """Ping every stream, for ever."""
        while True:
            await asyncio.sleep(PING_INTERVAL.total_seconds())
            for session in self._lobby.sessions:
                session.ping()

    async def drop_stalled_streams(self) -> None:
        """Close the streams of slow consumers, whose peers do not read, for ever."""
        limit = self._write_timeout.total_seconds()
        while True:
            await asyncio.sleep(limit / LOOKS_PER_WRITE_TIMEOUT)
            now_ns = self._watch.moment().now_ns
            for session in self._lobby.sessions:
                since_ns = session.writing_since_ns
                if since_ns is not None and now_ns - since_ns > limit * NS_PER_SECOND:
                    session.close(NotReadingError(f"nothing was read for {limit:g} s"))

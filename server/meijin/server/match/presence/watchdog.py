"""The watchdog: what is looked at now and then instead of having a timer of its own."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta

from meijin.game.arbiter.moment import NS_PER_SECOND
from meijin.server.errors import NotReadingError
from meijin.server.match.games import Games
from meijin.server.match.live.session import Session
from meijin.server.match.lobby import Lobby
from meijin.server.match.presence.incidents import Incidents
from meijin.server.match.presence.silence import SilenceWatch
from meijin.server.match.stalls import IDLE_INTERVAL_NS, TICK_INTERVAL_NS, StallWatch

TICKS_PER_EXPIRY = 4
"""Ticks of the stall watch between two looks at the clocks: deadlines are seen to 40 ms."""

TICKS_PER_PROBE = 12
"""Between two probes: a standstill is seen but for the part of it before the next one. One every
40 ms takes a lone game, which is never waited for, 6 % of its rate."""

PING_INTERVAL = timedelta(seconds=5)
"""Between two measurements of a stream's lag."""

LOOKS_PER_WRITE_TIMEOUT = 5
"""Looks for slow consumers in the time that they have to read a message."""

PORTIONS = 100
"""All streams are gone through in this many at most: ten thousand that wake at once are a stall."""


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
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._watch = watch
        self._lobby = lobby
        self._games = games
        self._incidents = incidents
        self._silence = silence
        self._write_timeout = write_timeout
        self._sleep = sleep

    async def watch_clocks(self) -> None:
        """Flag fall: end games whose time has run out."""
        for count in itertools.count():
            if self._lobby.players:
                self._watch.wake()
                await self._sleep(TICK_INTERVAL_NS / NS_PER_SECOND)
            else:
                await self._rest()
            moment = self._watch.tick()
            if count % TICKS_PER_PROBE == 0 and self._games.running:
                self._watch.probe()
            if count % TICKS_PER_EXPIRY == 0:
                is_flag_up = self._games.expire(moment)
                self._silence.look(moment, is_flag_up=is_flag_up)
                self._incidents.look(moment, self._watch.counted_ns)

    async def _rest(self) -> None:
        """Wait for somebody to come, and look only now and then meanwhile."""
        self._watch.rest()
        self._lobby.joined.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(IDLE_INTERVAL_NS / NS_PER_SECOND):
                await self._lobby.joined.wait()

    async def measure_lag(self) -> None:
        """Ping every stream, again and again."""
        while True:
            await self._visit_each(PING_INTERVAL, Session.ping)

    async def drop_stalled_streams(self) -> None:
        """Close the streams of slow consumers, whose peers do not read."""
        while True:
            await self._visit_each(
                self._write_timeout / LOOKS_PER_WRITE_TIMEOUT, self._drop_stalled
            )

    def _drop_stalled(self, session: Session) -> None:
        since_ns, limit = session.writing_since_ns, self._write_timeout.total_seconds()
        now_ns = self._watch.moment().now_ns
        if since_ns is not None and now_ns - since_ns > limit * NS_PER_SECOND:
            session.close(NotReadingError(f"nothing was read for {limit:g} s"))

    async def _visit_each(self, interval: timedelta, visit: Callable[[Session], None]) -> None:
        """Visit every open stream once, in portions that are spread evenly over an interval."""
        sessions = self._lobby.sessions
        size = max(-(-len(sessions) // PORTIONS), 1)
        starts = range(0, max(len(sessions), 1), size)
        for start in starts:
            await self._sleep(interval.total_seconds() / len(starts))
            for session in sessions[start : start + size]:
                if not session.closed.done():
                    visit(session)

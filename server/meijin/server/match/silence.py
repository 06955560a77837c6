"""Mass silence: connections that carry nothing any more, all at once, long before they are closed.

A network that dies without a word closes no stream: keepalive does, fifteen seconds later. Until
then its bots look as if each of them held its answers back, and every flag that goes up would fall
for want of a ping's answer.
"""

from collections.abc import Sequence
from datetime import timedelta

from meijin.server.errors import NotReadingError
from meijin.server.match.departures import LEAST_DEPARTURES
from meijin.server.match.listeners import Listeners, MassDisconnect
from meijin.server.match.lobby import Lobby
from meijin.server.match.session import Session
from meijin.server.match.stalls import NS_PER_SECOND, Moment, nanoseconds

ROUND_INTERVAL_NS = NS_PER_SECOND // 2
"""Between two rounds of pings while a flag is up; together with `SILENT_AFTER_NS` it is less than
a flag's patience, so that whoever went silent before the flag is known to be before it falls."""


class SilenceWatch:
    """Finds out whether half of the bots have fallen silent together, while a flag is up.

    It asks everybody. Of those that don't answer the ones count that have answered at once so
    far: a bot that searches where it reads is late with every ping, and no sign of anything.
    While they are silent the clocks of those that don't answer stand.
    """

    def __init__(self, lobby: Lobby, listeners: Listeners, *, keepalive: timedelta) -> None:
        self._lobby = lobby
        self._listeners = listeners
        self._limit_ns = nanoseconds(2 * keepalive)
        self._round_ns = -ROUND_INTERVAL_NS
        self._has_silent = False

    def look(self, moment: Moment, *, is_flag_up: bool) -> None:
        """See who is silent; costs nothing unless a flag is up or somebody is."""
        if not (is_flag_up or self._has_silent):
            return
        sessions = self._lobby.sessions
        now_ns = moment.served_ns
        if is_flag_up and now_ns - self._round_ns >= ROUND_INTERVAL_NS:
            self._round_ns = now_ns
            for session in sessions:
                session.ping()
        unheard = [session for session in sessions if session.is_unheard(moment)]
        witnesses = [session for session in unheard if session.is_prompt]
        if len(witnesses) >= LEAST_DEPARTURES and 2 * len(witnesses) >= len(sessions):
            self._begin(unheard, moment, connected=len(sessions))
        self._end_long_ones(sessions, now_ns)

    def _begin(self, unheard: Sequence[Session], moment: Moment, *, connected: int) -> None:
        """Have the clocks of those that are not heard stand, and tell of the first of them."""
        names = [session.player.name for session in unheard]
        if not self._has_silent:
            self._listeners.mass_disconnected(MassDisconnect(names, connected, is_silent=True))
        for session in unheard:
            if session.silent_since_ns is None:
                session.silent_since_ns = moment.served_ns

    def _end_long_ones(self, sessions: Sequence[Session], now_ns: int) -> None:
        """Close streams that keepalive should have closed: what answers it is no bot."""
        self._has_silent = False
        for session in sessions:
            since_ns = session.silent_since_ns
            if since_ns is None:
                continue
            self._has_silent = True
            if now_ns - since_ns > self._limit_ns:
                seconds = self._limit_ns / NS_PER_SECOND
                session.close(NotReadingError(f"nothing was heard of you for {seconds:g} s"))

"""Mass silence: connections that carry nothing any more, all at once, long before they are closed.

A network that dies without a word closes no stream: keepalive does, fifteen seconds later. Until
then its bots look as if each of them held its answers back, and every flag that goes up would fall
for want of a ping's answer.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from random import Random

from meijin.game.arbiter.moment import NS_PER_SECOND, Moment, nanoseconds
from meijin.server.errors import NotReadingError
from meijin.server.match.live.listeners import Listener, Listeners, MassDisconnect
from meijin.server.match.live.session import Session
from meijin.server.match.lobby import LEAST_DEPARTURES, Lobby, Player

ROUND_INTERVAL_NS = NS_PER_SECOND // 2
"""Between two rounds of pings while a flag is up; together with `SILENT_AFTER_NS` it is less than
a flag's patience, so that whoever went silent before the flag is known to be before it falls."""

SAMPLE = 128
"""Bots that are asked while nobody is known to be silent: at ten thousand, where some flag is up at
almost any time, asking everybody takes a tenth of a core beside the pings, and wakes all at once."""


class SilenceWatch:
    """Finds out whether half of the bots have fallen silent together, while a flag is up.

    It asks everybody, or of many a random sample, and everybody as soon as half of that is silent.
    Whoever has its flag up is asked anyway: the flag waits for a ping. Of those that don't answer
    the ones count that have answered at once so far: a bot that searches where it reads is late
    with every ping, and no sign of anything. While they are silent the clocks of those that don't
    answer stand.
    """

    def __init__(
        self, lobby: Lobby, listeners: Listeners, *, keepalive: timedelta, rng: Random
    ) -> None:
        self._lobby = lobby
        self._listeners = listeners
        self._limit_ns = nanoseconds(2 * keepalive)
        self._rng = rng
        self._round_ns = -ROUND_INTERVAL_NS
        self._sample: Sequence[Player] = ()
        self._has_silent = False
        self._is_told = False

    def look(self, moment: Moment, *, is_flag_up: bool) -> None:
        """See who is silent; costs nothing unless a flag is up or somebody is."""
        if not (is_flag_up or self._has_silent):
            return
        is_round = is_flag_up and moment.served_ns - self._round_ns >= ROUND_INTERVAL_NS
        is_sample = len(self._lobby.players) > SAMPLE and not self._has_silent
        asked = self._sampled(moment, is_round=is_round) if is_sample else self._lobby.sessions
        if is_round:
            self._round_ns = moment.served_ns
            _ping(asked)
        if _are_silent(asked, moment):
            self._begin(moment, is_known=not is_sample)
        if self._has_silent:
            self._end_long_ones(moment.served_ns)

    def _sampled(self, moment: Moment, *, is_round: bool) -> Sequence[Session]:
        """The open streams of the sample; of another one in each round while all are heard."""
        sessions = _open_streams(self._sample)
        is_worn = 2 * len(sessions) < SAMPLE
        falls_silent = any(each.is_prompt and each.is_unheard(moment) for each in sessions)
        if is_round and (is_worn or not falls_silent):
            players = [each for each in self._lobby.players.values() if each.session is not None]
            self._sample = self._rng.sample(players, min(SAMPLE, len(players)))
            sessions = _open_streams(self._sample)
        return sessions

    def _begin(self, moment: Moment, *, is_known: bool) -> None:
        """Have the clocks of those that are not heard stand, and tell of the first of them.

        Unless that is known of everybody, everybody is asked now.
        """
        sessions = self._lobby.sessions
        unheard = [session for session in sessions if session.is_unheard(moment)]
        for session in unheard:
            if session.silent_since_ns is None:
                session.silent_since_ns = moment.served_ns
        self._has_silent = True
        if not is_known:
            _ping(sessions)
        elif not self._is_told:
            self._is_told = True
            names = [session.player.name for session in unheard]
            loss = MassDisconnect(names, len(sessions), is_silent=True)
            self._listeners.tell(Listener.mass_disconnected, loss)

    def _end_long_ones(self, now_ns: int) -> None:
        """Close streams that keepalive should have closed: what answers it is no bot."""
        self._has_silent = False
        for session in self._lobby.sessions:
            since_ns = session.silent_since_ns
            if since_ns is None:
                continue
            self._has_silent = True
            if now_ns - since_ns > self._limit_ns:
                seconds = self._limit_ns / NS_PER_SECOND
                session.close(NotReadingError(f"nothing was heard of you for {seconds:g} s"))
        self._is_told &= self._has_silent


def _open_streams(players: Iterable[Player]) -> list[Session]:
    return [player.session for player in players if player.session is not None]


def _ping(sessions: Sequence[Session]) -> None:
    for session in sessions:
        session.ping()


def _are_silent(sessions: Sequence[Session], moment: Moment) -> bool:
    """Whether half of them have fallen silent, by those that have always answered at once."""
    silent = sum(session.is_unheard(moment) and session.is_prompt for session in sessions)
    return silent >= LEAST_DEPARTURES and 2 * silent >= len(sessions)

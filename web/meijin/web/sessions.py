"""Sessions: who has signed in with a token, as the browser's cookie says."""

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

COOKIE = "meijin_session"

MAX_SESSIONS = 10_000
"""Kept at once; who was here longest ago is signed out first."""

IDLE_TIME = timedelta(hours=12)
"""After so long without a request a session is over."""


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """One browser that has signed in."""

    token: str
    """What every call of it shows; only this process has it."""
    is_operator: bool = False
    last_seen: float = 0
    """When it asked last, by a monotonic clock; seconds."""


NOBODY = BrowserSession("")
"""Who has not signed in."""


class Sessions:
    """The browsers that have signed in, in memory: a restart signs everybody out."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sessions: OrderedDict[str, BrowserSession] = OrderedDict()

    def open(self, token: str, *, is_operator: bool) -> str:
        """Sign a browser in; what its cookie has to say."""
        key = secrets.token_urlsafe(32)
        self._sessions[key] = BrowserSession(token, is_operator, self._clock())
        if len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)
        return key

    def get(self, key: str) -> BrowserSession:
        """A session; `NOBODY` for none, or one that is over."""
        session = self._sessions.get(key)
        if session is None:
            return NOBODY
        now = self._clock()
        if now - session.last_seen > IDLE_TIME.total_seconds():
            del self._sessions[key]
            return NOBODY
        self._sessions[key] = replace(session, last_seen=now)
        self._sessions.move_to_end(key)
        return session

    def close(self, key: str) -> None:
        self._sessions.pop(key, None)

"""The start of bots: how long one is waited for, and what is told of it meanwhile."""

import time
from collections.abc import Mapping
from datetime import timedelta

from meijin.arena.child import FAILURE, Child, Tell
from meijin.arena.connection import Connection
from meijin.arena.errors import BotLostError
from meijin.bots.builtin.compiled import COMPILING
from meijin.bots.sdk.client import CONNECTED
from meijin.v1 import bot_service_pb2 as pb

BOT_START_TIMEOUT = timedelta(minutes=5)
"""For a bot to connect, not counting the time in which it compiles its search."""

NOTICE_INTERVAL = timedelta(seconds=2)
"""After it a bot that is not connected yet has its last line passed on, and then again."""

POLL_INTERVAL = timedelta(milliseconds=50)
"""Between two looks whether bots are up."""


class Startup:
    """How long a bot that starts is waited for, and what of its log is passed on."""

    def __init__(self, now: float, limit: timedelta = BOT_START_TIMEOUT) -> None:
        self.limit = limit
        self._deadline = now + limit.total_seconds()
        self._next_notice = now + NOTICE_INTERVAL.total_seconds()
        self._last_notice = ""

    def notice(self, line: str, now: float) -> str:
        """What to pass on of a bot whose last line this is; empty when there is no need to."""
        if COMPILING in line:
            self._deadline = now + self.limit.total_seconds()
        if line in ("", self._last_notice) or line.startswith(FAILURE) or now < self._next_notice:
            return ""
        if CONNECTED in line:  # since the server was asked who is there
            return ""
        self._last_notice = line
        self._next_notice = now + NOTICE_INTERVAL.total_seconds()
        return line

    def is_over(self, now: float) -> bool:
        """Whether it has had its time."""
        return now > self._deadline


def wait_for_bots(
    connection: Connection, children: Mapping[str, Child], tell: Tell, limit: timedelta
) -> None:
    """Return when all bots are connected; what keeps one that is slow is told.

    Raises:
        BotLostError: one has ended, or has not connected within the limit.
    """
    startups = {name: Startup(time.monotonic(), limit) for name in children}
    while True:
        request = pb.ListBotsRequest(connected=True)
        for bot in connection.ask(connection.bots.ListBots, request).bots:
            startups.pop(bot.name, None)
        if not startups:
            return
        for name, startup in sorted(startups.items()):
            _look_at_bot(name, startup, children[name], tell)
        time.sleep(POLL_INTERVAL.total_seconds())


def _look_at_bot(name: str, startup: Startup, child: Child, tell: Tell) -> None:
    """Tell what a bot that is not connected yet says.

    Raises:
        BotLostError: it has ended, or has had its time.
    """
    if child.process.poll() is not None:
        for line in child.last_frames[:-1]:
            tell(line)
        raise BotLostError(f"{name} ended, {child.end}")
    now = time.monotonic()
    if notice := startup.notice(child.last_line, now):
        tell(f"{name}: {notice}")
    if startup.is_over(now):
        limit = startup.limit.total_seconds()
        raise BotLostError(f"{name} did not connect within {limit:g} s: {child.last_words}")

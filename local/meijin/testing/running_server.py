"""A server with bots, driven from a test that has no event loop."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path

from meijin.bots import Bot
from meijin.bots.sdk.runner import BotThread
from meijin.game import GOMOKU
from meijin.local.connection import Connection, Server, connect
from meijin.local.match_settings import MatchSettings
from meijin.testing.match import Match, PlayedGame
from meijin.v1.bot_service_pb2 import RegisterBotRequest
from meijin.wire.contract import check_bot_name

TIMEOUT = timedelta(seconds=60)
"""How long a match may take before it fails."""


class RunningServer:
    """A running server, and the bots that were added to it."""

    def __init__(self, connection: Connection, stack: ExitStack) -> None:
        self._connection = connection
        self._stack = stack
        self._bots: dict[str, BotThread] = {}

    @property
    def address(self) -> str:
        """Where it listens, for bots that a test runs in another way."""
        return self._connection.server.address

    def add_bot(self, bot: Bot, *, name: str | None = None, threads: int = 1) -> str:
        """Let a bot play until the server stops, and return its name.

        `name` is the bot's own when left out. Plain ``choose`` methods run on `threads` threads.

        Raises:
            ValueError: another bot has the name already, or it can't be one.
        """
        name = name or bot.name
        if name in self._bots:
            raise ValueError(f'there is a bot "{name}" already; give this one another name')
        check_bot_name(name)
        request = RegisterBotRequest(name=name)
        token = self._connection.ask(self._connection.bots.RegisterBot, request).token
        thread = BotThread(bot, server=self.address, name=name, token=token, threads=threads)
        self._bots[name] = thread
        thread.start()
        self._stack.callback(thread.stop)
        return name

    def play(
        self,
        first: str,
        second: str,
        *,
        games: int = 2,
        time: str = "1/move",
        variant: str = GOMOKU.size,
        seed: int = 0,
        timeout: timedelta = TIMEOUT,
    ) -> list[PlayedGame]:
        """Play games between two bots, with alternating colours, and return them in order.

        Two games after each other have the same opening. `time` and `variant` are written as
        for ``meijin match``; the same `seed` deals the same openings.

        Raises:
            BotStoppedError: one of the bots has ended.
            MatchTimeoutError: the games take longer than `timeout` altogether.
            MatchError: the match can't be played.
            ValueError: a bot was not added, there are no games, or the time control or the variant
                can't be one.
        """
        if games < 1:
            raise ValueError(f"{games} games are no match; give 1 or more")
        bots = [self._bot(name) for name in (first, second)]
        settings = MatchSettings(games=games, time=time, variant=variant, seed=seed)
        wanted = settings.tournament()
        wanted.bots.extend((first, second))
        return Match(self._connection, bots, wanted, timeout).play()

    def _bot(self, name: str) -> BotThread:
        if name not in self._bots:
            known = ", ".join(self._bots) or "none"
            raise ValueError(f'no bot "{name}" was added; there is {known}')
        return self._bots[name]


@contextmanager
def run_server() -> Iterator[RunningServer]:
    """Run a server as long as the block lasts: on a free port, with an empty store."""
    from meijin.testing.server import ServerThread  # noqa: PLC0415 - two seconds
    from meijin.testing.settings import settings_in  # noqa: PLC0415 - the same

    with (
        tempfile.TemporaryDirectory(prefix="meijin-") as folder,
        ServerThread(settings_in(Path(folder))) as thread,
        connect(Server(thread.server.address), "") as connection,
        ExitStack() as stack,
    ):
        yield RunningServer(connection, stack)

"""A bot in a thread of its own, which plays by the SDK's client."""

import asyncio
import threading
from contextlib import suppress
from datetime import timedelta

from meijin.bots.sdk.bot import Bot
from meijin.bots.sdk.client import Client
from meijin.bots.sdk.poller import ignore_idle_wakeups
from meijin.wire.channel import Security

GOODBYE_TIMEOUT = timedelta(seconds=5)
"""What a bot may take to leave; one that blocks its event loop is left behind."""


class BotThread:
    """Runs a bot as `meijin.bots.run` does, on an event loop that a blocking bot holds up alone."""

    def __init__(
        self,
        bot: Bot,
        *,
        server: str,
        name: str,
        token: str,
        security: Security | None = None,
        threads: int = 1,
    ) -> None:
        self.name = name
        self.capabilities = bot.capabilities
        self.error: BaseException | None = None
        """What ended the bot, if something has."""
        self._client = Client(
            bot, server=server, name=name, token=token, security=security, threads=threads
        )
        self._has_begun = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"bot-{name}", daemon=True)

    def start(self) -> None:
        """Connect, and play until `stop`."""
        self._thread.start()
        self._has_begun.wait()

    def stop(self) -> None:
        """Leave, and wait until the bot has left."""
        with suppress(RuntimeError):  # the loop is closed where the bot has ended
            self._loop.call_soon_threadsafe(self._client.stop)
        self._thread.join(GOODBYE_TIMEOUT.total_seconds())

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # noqa: BLE001 - the match raises it
            self.error = error

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        ignore_idle_wakeups()
        self._has_begun.set()
        await self._client.serve()

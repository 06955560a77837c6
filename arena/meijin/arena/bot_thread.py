"""A bot of this process: it plays in a thread with an event loop of its own."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from threading import Thread

from meijin.bots import Bot, Client
from meijin.wire.channel import Security

LEAVE_TIMEOUT = timedelta(seconds=5)
"""A bot has this time to leave; one that blocks its event loop is left behind."""


class BotThread:
    """Plays a bot's games from `start` to `stop`."""

    def __init__(self, bot: Bot, *, server: str, name: str, token: str, security: Security) -> None:
        self.name = name
        self.error: BaseException | None = None
        """What ended the thread, if that wasn't `stop`."""
        self._client = Client(bot, server=server, token=token, name=name, security=security)
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._run, name=f"bot {name}", daemon=True)

    def start(self) -> None:
        """Connect, and play whatever the server asks for."""
        self._thread.start()

    def stop(self) -> None:
        """Leave, and wait for that."""
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._client.stop)
        self._thread.join(LEAVE_TIMEOUT.total_seconds())

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._client.serve())
        except BaseException as error:  # noqa: BLE001 - told by the thread that waits for it
            self.error = error
        finally:
            self._loop.close()

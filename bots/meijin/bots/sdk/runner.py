"""Running a bot from a script or the command line."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from meijin.bots.sdk.bot import Bot, Chooser
from meijin.bots.sdk.client import Client, ignore
from meijin.bots.sdk.errors import RefusedError
from meijin.wire.channel import Security

STOPPING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGBREAK") if hasattr(signal, name)
)
"""Ctrl-C, and what asks a process to end: on Windows Ctrl-Break, elsewhere SIGTERM."""


def on_stop_signals(loop: asyncio.AbstractEventLoop, leave: Callable[[], None]) -> None:
    """Have the first of `STOPPING` call `leave` on the loop; the second ends the process.

    Windows' loop takes no handlers of its own, but wakes up for those of the process.
    """

    def obey() -> None:
        for number in STOPPING:
            signal.signal(number, signal.SIG_DFL)
        leave()

    for number in STOPPING:
        try:
            loop.add_signal_handler(number, obey)
        except NotImplementedError:
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(obey))


def run(
    bot: Bot | Chooser,
    *,
    server: str | None = None,
    token: str | None = None,
    name: str | None = None,
    security: Security | None = None,
    threads: int = 1,
    hardware: str | None = None,
    on_entered: Callable[[str], object] = ignore,
) -> None:
    """Connect a bot, or a function that is one, and play until Ctrl-C or SIGTERM.

    `server` is ``host``, ``host:port`` or, with TLS, ``grpcs://host:port``, else MEIJIN_SERVER,
    else 127.0.0.1:7464. `token` says which bot it is, else MEIJIN_TOKEN; without one, as some
    servers allow, `name` or the bot's own name does. `security` says whom to trust, else
    MEIJIN_CA and its like. Plain ``choose`` methods run on `threads` threads. `hardware` is what
    people are told that the bot runs on, else MEIJIN_HARDWARE, else the processor's name.
    `on_entered` is called on the event loop with the bot's name, whenever it is let in.

    Raises:
        SystemExit: the server refuses the bot; the message says what to do.
        ValueError: the server's address, the token, the name or a file can't be one.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    client = Client(
        bot,
        server=server,
        token=token,
        name=name,
        security=security,
        threads=threads,
        hardware=hardware,
        on_entered=on_entered,
    )
    try:
        asyncio.run(_serve_until_signalled(client))
    except RefusedError as error:
        raise SystemExit(f"meijin: {error}") from None


async def serve(
    bot: Bot | Chooser,
    *,
    server: str | None = None,
    token: str | None = None,
    name: str | None = None,
    security: Security | None = None,
    threads: int = 1,
    hardware: str | None = None,
) -> None:
    """Do as `run` does in a program that has its own event loop, until cancelled.

    Raises:
        RefusedError: the server refuses the bot; the message says what to do.
        ValueError: the server's address, the token, the name or a file can't be one.
    """
    client = Client(
        bot,
        server=server,
        token=token,
        name=name,
        security=security,
        threads=threads,
        hardware=hardware,
    )
    await client.serve()


async def _serve_until_signalled(client: Client) -> None:
    on_stop_signals(asyncio.get_running_loop(), client.stop)
    await client.serve()


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


def ignore_idle_wakeups() -> None:
    """Have the running event loop pass over wake-ups of gRPC's poller that were another loop's.

    Every loop is woken for every event, and all but the one that takes it read nothing.
    """
    loop = asyncio.get_running_loop()
    inner = loop.get_exception_handler()

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        idle = isinstance(context.get("exception"), BlockingIOError)
        if idle and "PollerCompletionQueue" in context["message"]:
            return
        if inner is None:
            loop.default_exception_handler(context)
        else:
            inner(loop, context)

    loop.set_exception_handler(handle)

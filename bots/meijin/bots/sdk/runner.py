"""Running a bot from a script or the command line."""

from __future__ import annotations

import asyncio
import logging

from meijin.bots.sdk.bot import Bot
from meijin.bots.sdk.client import Client
from meijin.bots.sdk.errors import RefusedError
from meijin.bots.sdk.signals import on_stop_signals
from meijin.wire.channel import Security


def run(
    bot: Bot,
    *,
    server: str | None = None,
    token: str | None = None,
    name: str | None = None,
    security: Security | None = None,
    threads: int = 1,
    hardware: str | None = None,
) -> None:
    """Connect a bot and play until Ctrl-C or SIGTERM.

    `server` is ``host``, ``host:port`` or, with TLS, ``grpcs://host:port``, else MEIJIN_SERVER,
    else 127.0.0.1:7464. `token` says which bot it is, else MEIJIN_TOKEN; without one, as some
    servers allow, `name` or the bot's own name does. `security` says whom to trust, else
    MEIJIN_CA and its like. Plain ``choose`` methods run on `threads` threads. `hardware` is what
    people are told that the bot runs on, else MEIJIN_HARDWARE, else the processor's name.

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
    )
    try:
        asyncio.run(_serve_until_signalled(client))
    except RefusedError as error:
        raise SystemExit(f"meijin: {error}") from None


async def serve(
    bot: Bot,
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

"""The notification protocol of systemd: ready, stopping, and the watchdog's signs of life."""

import asyncio
import os
import socket
from collections.abc import Mapping

import structlog

log = structlog.get_logger()


class ServiceManager:
    """The systemd that runs the server; without one nothing is sent.

    Args:
        environment: Of the process: ``NOTIFY_SOCKET``, and ``WATCHDOG_USEC`` where the unit has
            a watchdog.
    """

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._address = environment.get("NOTIFY_SOCKET", "")
        self._interval = int(environment.get("WATCHDOG_USEC", "0")) / 2_000_000

    async def run(self) -> None:
        """Give signs of life, twice as often as the watchdog looks.

        A server whose event loop stands still gives none, and is started again.
        """
        while self._interval:
            self.tell("WATCHDOG=1")
            await asyncio.sleep(self._interval)
        await asyncio.Event().wait()

    def tell(self, state: str) -> None:
        """Send a state as systemd writes it, such as ``READY=1`` once bots may connect."""
        if not self._address:
            return
        address = self._address
        if address.startswith("@"):  # a name in the abstract namespace
            address = f"\0{address[1:]}"
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                sender.settimeout(0)
                sender.sendto(state.encode(), address)
        except OSError as error:
            log.warning("systemd was not told", state=state, error=str(error))

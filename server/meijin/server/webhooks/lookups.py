"""Lookups: the names in the URLs of new webhooks are resolved beside the event loop, bounded."""

import asyncio
from datetime import timedelta
from functools import partial

from meijin.server.errors import BusyError
from meijin.server.webhooks.targets import Reach, Resolve, Target, TargetError, Url, resolve_host
from meijin.server.webhooks.threads import in_daemon_thread

LOOKUP_LIMIT = timedelta(seconds=5)
"""How long a caller waits for an address; the system may ask for longer."""

MAX_LOOKUPS = 8
"""Threads that wait for addresses at once, those of callers who were answered among them."""


class Lookups:
    """Resolves names, in threads of their own."""

    def __init__(self, resolve: Resolve = resolve_host) -> None:
        self._resolve = resolve
        self._running: set[asyncio.Task[Target]] = set()

    async def check(self, reach: Reach, url: Url) -> None:
        """Accept a URL whose host has addresses that may all be sent to.

        Raises:
            TargetError: nothing may be sent there, or nobody knows where it is.
            BusyError: too many names are being looked up.
        """
        if len(self._running) >= MAX_LOOKUPS:
            raise BusyError(f"{MAX_LOOKUPS} names are being looked up; try again later")
        find = partial(reach.find, url, self._resolve)
        task = asyncio.create_task(in_daemon_thread(find, "webhook-lookup"))
        self._running.add(task)
        task.add_done_callback(self._forget)
        await asyncio.wait((task,), timeout=LOOKUP_LIMIT.total_seconds())
        if not task.done():
            seconds = LOOKUP_LIMIT.total_seconds()
            raise TargetError(f"{url.host} was not found within {seconds:g} s; try again later")
        try:
            task.result()
        except OSError as error:
            reason = error.strerror or error
            raise TargetError(f"{url.host} has no address that is known here: {reason}") from None

    def _forget(self, task: asyncio.Task[Target]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # looked at, though nobody waits for it any more

"""gRPC's poller: one for all event loops of a process."""

import asyncio
from typing import Any


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

"""Signals that ask a bot to leave, on every system."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

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

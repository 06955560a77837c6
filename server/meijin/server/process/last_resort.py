"""The last resort of a stop: a process whose parts hang is ended from a thread of its own."""

import os
import threading
from datetime import timedelta

import structlog

log = structlog.get_logger()

CUT_OFF = 1
"""The exit status of a process that did not stop by itself."""


def end_within(limit: timedelta) -> None:
    """Have the process end after `limit` at the latest.

    Its interpreter waits for all threads, such as one that reads from a database that never
    answers. Nothing is lost by it: what was acknowledged is stored.
    """
    timer = threading.Timer(limit.total_seconds(), _end, args=(limit,))
    timer.daemon = True
    timer.start()


def _end(limit: timedelta) -> None:
    log.error("the stop hangs and is cut off", seconds=limit.total_seconds())
    os._exit(CUT_OFF)

"""The log of an outage: one line when something is gone, and one when it is back."""

import threading

import structlog

_log = structlog.get_logger()


class OutageLog:
    """Tells the log of an outage once, however many calls fail; any thread may use it.

    `gone` and `back` are the events in the log.
    """

    def __init__(self, gone: str, back: str) -> None:
        self._gone = gone
        self._back = back
        self._lock = threading.Lock()
        self._is_on = False

    def begin(self, error: BaseException | None) -> None:
        """Take note of a call that failed."""
        with self._lock:
            if not self._is_on:
                _log.warning(self._gone, error=str(error))
            self._is_on = True

    def end(self) -> None:
        """Take note of a call that worked."""
        with self._lock:
            if self._is_on:
                _log.info(self._back)
            self._is_on = False

"""Turns of an event loop: what it does between two looks at its selector."""

import selectors
import time
from typing import Any


class TurnSelector(selectors.DefaultSelector):
    """A selector that measures the longest turn, by the processor time of the loop's thread."""

    def __init__(self) -> None:
        super().__init__()
        self._woke_ns = time.thread_time_ns()
        self.longest_ns = 0

    def select(self, timeout: float | None = None) -> Any:  # noqa: ANN401 - the base's own
        """Look; the turn before it has ended."""
        self.end_turn(time.thread_time_ns() - self._woke_ns)
        try:
            return super().select(timeout)
        finally:
            self._woke_ns = time.thread_time_ns()

    def end_turn(self, spent_ns: int) -> None:
        """A turn took so long."""
        self.longest_ns = max(self.longest_ns, spent_ns)

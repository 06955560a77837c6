"""A small log: one whose segments are full soon, and are made at one instant."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from unittest import mock

from meijin.store.move_log import log, segment


class InlineThread(Thread):
    """Has done what it is to do when it is started."""

    def start(self) -> None:
        self.run()


@contextmanager
def small_log(segment_bytes: int) -> Iterator[None]:
    """Have segments of this many bytes, and the next one made when half of one is written."""
    with (
        mock.patch.object(log, "SEGMENT_BYTES", segment_bytes),
        mock.patch.object(log, "PREPARED_AT", segment_bytes // 2),
        mock.patch.object(segment, "Thread", InlineThread),
    ):
        yield

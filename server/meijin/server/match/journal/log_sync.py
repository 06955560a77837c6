"""Waiting for the disk: a thread that does nothing else."""

import asyncio
import os
import threading
from datetime import timedelta

from meijin.store.move_log import MoveLog

CLOSING_TIME = timedelta(seconds=1)
"""How long the end of the thread is waited for."""


class LogSync:
    """Has a log's entries reach the disk, while the event loop does other things.

    The two wake each other by pipes: locks and queues of the interpreter would have either wait
    for the other's turn in it, three times a commit.
    """

    def __init__(self, log: MoveLog) -> None:
        self._log = log
        self._asked, self._ask = os.pipe()
        self._done, self._tell = os.pipe()
        self._error: OSError | None = None
        self._is_done = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        asyncio.get_running_loop().add_reader(self._done, self._note)
        self._thread.start()

    async def wait(self) -> None:
        """Wait until everything that was appended is on the disk.

        Raises:
            OSError: it may not be there.
        """
        os.write(self._ask, b"x")
        await self._is_done.wait()
        self._is_done.clear()
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _note(self) -> None:
        os.read(self._done, 1)
        self._is_done.set()

    def _run(self) -> None:
        while os.read(self._asked, 1):
            try:
                self._log.sync()
            except OSError as error:
                self._error = error
            os.write(self._tell, b"x")

    def close(self) -> None:
        """End the thread, unless the disk holds it."""
        asyncio.get_running_loop().remove_reader(self._done)
        os.close(self._ask)
        self._thread.join(CLOSING_TIME.total_seconds())
        if self._thread.is_alive():
            return
        for end in (self._asked, self._done, self._tell):
            os.close(end)

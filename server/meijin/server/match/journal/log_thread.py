"""Writing to the move log where the disk has to be waited for: a thread that does nothing else."""

import asyncio
import os
import threading
from datetime import timedelta

from meijin.store.move_log.entry import LogEntry
from meijin.store.move_log.log import MoveLog
from meijin.store.schema import EntryId

CLOSING_TIME = timedelta(seconds=1)
"""How long the end of the thread is waited for."""

_APPEND, _SETTLE = b"a", b"s"


class LogThread:
    """Has a log's entries reach the disk, while the event loop does other things.

    A disk that hangs holds this thread alone. It and the loop wake each other by pipes: locks and
    queues of the interpreter would have either wait for the other's turn in it, three times a
    commit.
    """

    def __init__(self, log: MoveLog) -> None:
        self._log = log
        self._asked, self._ask = os.pipe()
        self._done, self._tell = os.pipe()
        self._work: tuple[LogEntry, EntryId | None, bool] | None = None
        self._error: OSError | None = None
        self._is_done = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        asyncio.get_running_loop().add_reader(self._done, self._note)
        self._thread.start()

    async def append(self, entry: LogEntry, keep_from: EntryId | None, *, renew: bool) -> None:
        """Append an entry as `MoveLog.append` does, and wait until it is on the disk.

        Raises:
            OSError: it may not be there.
        """
        self._work = entry, keep_from, renew
        os.write(self._ask, _APPEND)
        await self._is_done.wait()
        self._is_done.clear()
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _note(self) -> None:
        os.read(self._done, 1)
        self._is_done.set()

    def settle(self) -> None:
        """Have the log settled behind what was appended, and wait for nothing."""
        os.write(self._ask, _SETTLE)

    def _run(self) -> None:
        while asked := os.read(self._asked, 1):
            if asked == _APPEND:
                self._append()
            else:
                self._log.settle()

    def _append(self) -> None:
        """Append what waits, and tell the event loop."""
        assert self._work is not None
        entry, keep_from, renew = self._work
        try:
            self._log.append(entry, keep_from=keep_from, renew=renew)
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

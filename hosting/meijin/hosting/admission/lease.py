"""The lease of an admission: renewed for as long as its worker is at it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Self

import structlog
from sqlalchemy.exc import DBAPIError

from meijin.store import Database
from meijin.store.database import is_unavailable
from meijin.store.programs.admissions import renew_lease, set_findings
from meijin.store.programs.programs import ProgramRow
from meijin.store.schema import Finding

LEASE_TIME = timedelta(minutes=1)
"""How long a program is a worker's from the last renewal on; then another one takes it."""
RENEWAL_INTERVAL = timedelta(seconds=15)
"""Between two renewals: some may fail, as the database may be away for a while."""
MOST_RENEWALS = 120
"""Of a worker that is at it for half an hour: it hangs, and another one is to try."""

_log = structlog.get_logger()


class LeaseLostError(Exception):
    """The program is another worker's by now, or it was suspended or retired."""


class Lease:
    """Keeps a program for this worker within a ``with`` block, however long that takes.

    It is not renewed any more when this process was killed, so that another worker soon takes over.
    """

    def __init__(
        self, database: Database, taken: ProgramRow, interval: timedelta = RENEWAL_INTERVAL
    ) -> None:
        self._database = database
        self._taken = taken
        self._interval_s = interval.total_seconds()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="lease", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def tell(self, findings: Sequence[Finding]) -> None:
        """Write what is found so far.

        Raises:
            LeaseLostError: nobody waits for it any more.
        """
        if not self._database.write(set_findings, self._taken, findings, lease_end()):
            raise LeaseLostError

    def _renew(self) -> None:
        for _ in range(MOST_RENEWALS):
            if self._is_over.wait(self._interval_s):
                return
            try:
                if not self._database.write(renew_lease, self._taken, lease_end()):
                    return  # which the next finding tells
            except DBAPIError as error:
                if not is_unavailable(error):
                    raise
                _log.warning("can't renew the lease of an admission", error=str(error.orig))


def lease_end() -> datetime:
    """Until when a program is a worker's that takes or renews it now."""
    return datetime.now(UTC) + LEASE_TIME

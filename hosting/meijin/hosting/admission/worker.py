"""The worker of admissions: takes programs that wait, and examines each."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import dramatiq
import redis
import structlog
from dramatiq import Worker
from sqlalchemy.exc import DBAPIError

from meijin.hosting.admission.examination import (
    Admission,
    AdmissionFailedError,
    ProgramExamination,
)
from meijin.hosting.admission.lease import Lease, LeaseLostError, lease_end
from meijin.ladder.admission_queue import ACTOR, QUEUE, REDIS_WORDS
from meijin.ladder.job_queue import OutageLog, check, connect, is_outage
from meijin.ladder.jobs import make_broker
from meijin.store import Database
from meijin.store.errors import TooManyVersionsError
from meijin.store.programs.admissions import admit, refuse, take_program
from meijin.store.programs.programs import ProgramRow
from meijin.store.schema import ProgramId
from meijin.store.schema.bots import REASON

SWEEP_INTERVAL = timedelta(seconds=5)
"""Between two looks for programs that no job came for."""
POLL_INTERVAL_MS = 500
DATABASE_WORDS = ("the database fails; programs wait to be examined", "the database is back")
"""What the log says of an outage of the database, and of its end."""
STOP_TIMEOUT_MS = 4_000

_log = structlog.get_logger()


class Admissions:
    """Examines programs one by one, whoever asks for it."""

    def __init__(self, database: Database, examination: ProgramExamination) -> None:
        self._database = database
        self._examination = examination
        self._busy = threading.Lock()
        self._outage = OutageLog(*DATABASE_WORDS)

    def examine(self, program_id: int | None = None) -> bool:
        """Examine a program, or that which waits for longest; whether there was one."""
        with self._busy:
            key = None if program_id is None else ProgramId(program_id)
            taken = self._database.write(take_program, datetime.now(UTC), lease_end(), key)
            if taken is None:
                return False
            _log.info("admission begins", program=taken.id, bot=taken.bot)
            try:
                self._run(taken)
            except AdmissionFailedError as error:  # its lease ends, and somebody tries again
                _log.error("can't examine a program", program=taken.id, error=str(error))
            except LeaseLostError:
                _log.warning("admission given up", program=taken.id, bot=taken.bot)
            return True

    def take(self, program_id: int) -> None:
        """Do a job of the queue; what an outage leaves undone a sweep finds."""
        with self._bearing_an_outage():
            self.examine(program_id)

    def _run(self, taken: ProgramRow) -> None:
        with Lease(self._database, taken) as lease:
            admission = self._examination.run(taken, lease.tell)
        if admission.hello is None:
            self._refuse(taken, admission, admission.failure)
        else:
            self._admit(taken, admission, admission.hello)

    def _admit(self, taken: ProgramRow, admission: Admission, hello: dict[str, Any]) -> None:
        write = partial(admit, label=admission.label, lines=admission.lines)
        now, findings = datetime.now(UTC), admission.findings
        try:
            has_ended = self._database.write(write, taken, findings, hello, now)
        except TooManyVersionsError as error:
            self._refuse(taken, admission, str(error))
            return
        _end(taken, "program admitted", has_ended=has_ended)

    def _refuse(self, taken: ProgramRow, admission: Admission, why: str) -> None:
        write, reason = partial(refuse, lines=admission.lines), why[:REASON]
        now, findings = datetime.now(UTC), admission.findings
        has_ended = self._database.write(write, taken, findings, reason, now)
        _end(taken, "program refused", has_ended=has_ended, reason=reason)

    def sweep(self) -> None:
        """Examine everything that waits, unless the database is away."""
        with self._bearing_an_outage():
            while self.examine():
                pass

    @contextmanager
    def _bearing_an_outage(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            if not is_outage(error, self._outage):
                raise
        else:
            self._outage.end()


def _end(taken: ProgramRow, words: str, *, has_ended: bool, **said: str) -> None:
    """Log how an admission has ended.

    Raises:
        LeaseLostError: it was no longer this worker's to end.
    """
    if not has_ended:
        raise LeaseLostError
    _log.info(words, program=taken.id, bot=taken.bot, **said)


def run_worker(admissions: Admissions, redis_url: str, stop: threading.Event) -> None:
    """Examine what is queued, and what waits, until `stop` is set."""
    client = connect(redis_url)
    outage = OutageLog(*REDIS_WORDS)
    broker = make_broker(client, QUEUE)
    dramatiq.actor(broker=broker, queue_name=QUEUE, actor_name=ACTOR, max_retries=0)(
        admissions.take
    )
    worker = Worker(broker, worker_timeout=POLL_INTERVAL_MS, worker_threads=1)
    worker.start()
    _log.info("admissions begin")
    while not stop.is_set():
        admissions.sweep()
        check(client, outage)
        stop.wait(SWEEP_INTERVAL.total_seconds())
    with suppress(redis.RedisError):
        worker.stop(STOP_TIMEOUT_MS)
    client.close()

"""The worker process, which refreshes ladders and counts openings: `meijin worker`."""

import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from queue import Empty, SimpleQueue

import redis
import structlog
from dramatiq import Worker
from sqlalchemy.exc import DBAPIError

from meijin.ladder.job_queue import OutageLog, check, connect, is_outage
from meijin.ladder.jobs import DATABASE_WORDS, Jobs, Published, hear_nothing, make_broker
from meijin.ladder.opening_counter import OpeningCounter
from meijin.ladder.rating_table import ALGORITHM
from meijin.ladder.refresh_queue import QUEUE, REDIS_WORDS, DedupKeys
from meijin.store import Database
from meijin.store.ladders.ladders import mark_outdated

THREADS = 4
"""Jobs at once; they compute one by one, but a job that waits for a cooldown holds a thread."""
POLL_INTERVAL_MS = 500
"""The longest wait between two looks for a job."""
SIGNAL_POLL_INTERVAL_S = 0.5
"""Between two looks for a signal."""
RETRY_INTERVAL_S = 1.0
"""Between two tries to start while the database fails."""
STOP_TIMEOUT_MS = 4_000
"""That a stop waits for running jobs; a job cut off is made up for later."""

_log = structlog.get_logger()


def run_worker(
    url: str,
    redis_url: str,
    *,
    stop: threading.Event,
    sweep: timedelta,
    published: Published = hear_nothing,
) -> None:
    """Refresh ladders and count openings until `stop` is set, then finish the running jobs.

    Args:
        url: The database, with the current tables.
        redis_url: ``redis://host:port/0`` or ``unix:///path``; may be down at any time.
        stop: Set it from another thread, not from a signal handler.
        sweep: How often dirty ladders are looked for that no job came for.
        published: Hears of every run.

    Raises:
        UnknownSchemaError: the tables are not those of this release.
    """
    with Database(url) as database:
        _mark_outdated(database, stop)
        consumers = _Consumers(database, redis_url, stop, published)
        openings = OpeningCounter(database, stop=stop)
        _log.info("worker started", sweep=sweep.total_seconds())
        while not stop.is_set():
            consumers.jobs.sweep()
            is_behind = openings.sweep()
            consumers.check_redis()
            if not consumers.is_whole():
                _log.warning("a thread died; starting anew")
                consumers.stop()
                consumers = _Consumers(database, redis_url, stop, published)
            stop.wait(0 if is_behind else sweep.total_seconds())
        consumers.stop()
        _log.info("worker stopped")


def _mark_outdated(database: Database, stop: threading.Event) -> None:
    """Have the runs of an older release computed anew, however long the database is locked."""
    outage = OutageLog(*DATABASE_WORDS)
    while not stop.is_set():
        try:
            database.check_schema()
            database.write(mark_outdated, ALGORITHM)
        except DBAPIError as error:
            if not is_outage(error, outage):
                raise
            stop.wait(RETRY_INTERVAL_S)
        else:
            outage.end()
            return


class _Consumers:
    """The consumer threads of the queue, and the jobs that they run."""

    def __init__(
        self,
        database: Database,
        redis_url: str,
        stop: threading.Event,
        published: Published,
    ) -> None:
        self._client = connect(redis_url)
        self._outage = OutageLog(*REDIS_WORDS)
        broker = make_broker(self._client, QUEUE)
        self.jobs = Jobs(broker, database, DedupKeys(self._client), stop=stop, published=published)
        self._worker = Worker(broker, worker_timeout=POLL_INTERVAL_MS, worker_threads=THREADS)
        self._worker.start()

    def is_whole(self) -> bool:
        """Whether all threads live; a consumer may die of a Redis that dies at the wrong time."""
        threads = (*self._worker.workers, *self._worker.consumers.values())
        return all(thread.is_alive() for thread in threads)

    def check_redis(self) -> None:
        check(self._client, self._outage)

    def stop(self) -> None:
        """Let the threads finish their jobs, and end them."""
        try:
            self._worker.stop(STOP_TIMEOUT_MS)
        except redis.RedisError as error:
            _log.warning("no Redis to give waiting jobs back to", error=str(error))
        self._client.close()


def work_until_signalled(
    url: str, redis_url: str, *, sweep: timedelta, published: Published = hear_nothing
) -> None:
    """Run a worker until SIGTERM or SIGINT.

    Call it from the main thread, with the arguments of `run_worker`.
    """
    # Only the queue is safe to touch in a signal handler: an event's lock is not reentrant.
    signals: SimpleQueue[int] = SimpleQueue()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _frame: signals.put(number))
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(
            run_worker, url, redis_url, stop=stop, sweep=sweep, published=published
        )
        running.add_done_callback(lambda _: signals.put(0))
        while not stop.is_set():
            # A signal that comes just before the wait doesn't end it: 1 of 35 on a busy machine.
            with suppress(Empty):
                signals.get(timeout=SIGNAL_POLL_INTERVAL_S)
                stop.set()
        running.result()

"""The job that refreshes a ladder, and the sweep that finds what no job was sent for.

A job is only a hint to look: the truth is the ladder's revision in the database. A
job that is lost, late or doubled does no harm.
"""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import TypeAlias

import dramatiq
import redis
import structlog
from dramatiq import Broker
from dramatiq.brokers.redis import MAINTENANCE_SCALE, RedisBroker
from dramatiq.errors import Retry
from dramatiq.middleware import Retries
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from meijin.ladder.job_queue import NAMESPACE, OutageLog, is_outage
from meijin.ladder.refresh import due_ladders, now, refresh
from meijin.ladder.refresh_queue import ACTOR, QUEUE, DedupKeys
from meijin.ladder.tally import TallyCache
from meijin.store import Database
from meijin.store.errors import UnknownLadderError
from meijin.store.ladders.runs import NewRun
from meijin.store.schema import LadderId

HEARTBEAT_TIMEOUT_MS = 5_000
"""Of silence, after which a worker counts as dead."""
RESTART_DELAY_S = 0.5
"""Between two tries of a consumer that has lost Redis."""
COOLDOWN_FACTOR = 4.0
"""A ladder's cooldown over the time its run took: a fifth of a core is enough for it."""
MAX_COOLDOWN_S = 10.0
"""Shorter than a dedup key lives, so that games of a ladder in its cooldown need no second job."""
DATABASE_WORDS = ("the database fails; ladders wait", "the database is back")
"""What the log says of an outage of the database, and of its end."""

Published: TypeAlias = Callable[[NewRun, datetime, datetime], None]
"""Hears of a run that was published, and from when to when it was computed."""

_log = structlog.get_logger()


def hear_nothing(run: NewRun, start: datetime, end: datetime) -> None:
    """Let a run pass."""


def make_broker(client: redis.Redis, queue: str) -> RedisBroker:
    """The broker of a worker that consumes a queue; of an outage of Redis it is silent.

    Every command looks for the jobs of dead workers. That costs one range of a
    sorted set, and with dramatiq's own numbers (60 s of silence, one look in 1,000
    commands) a killed worker's job came back after 116 s, with these after 6 s.

    A worker that is to stop waits until its consumers have tried again, which by dramatiq's own
    number is 3 s where Redis was lost, as where the server that started both was killed.
    """
    dramatiq.worker.CONSUMER_RESTART_DELAY_SECS = RESTART_DELAY_S
    consumers = [f"dramatiq.worker.ConsumerThread({name})" for name in (queue, f"{queue}.DQ")]
    for name in ("dramatiq.broker.RedisBroker", *consumers):
        # Each would say twice a second that there is no Redis; `OutageLog` says it once.
        logging.getLogger(name).addFilter(_tells_of_no_outage)
    return RedisBroker(  # type: ignore[no-untyped-call]
        client=client,
        namespace=NAMESPACE,
        heartbeat_timeout=HEARTBEAT_TIMEOUT_MS,
        maintenance_chance=MAINTENANCE_SCALE,
        middleware=[Retries()],
    )


def _tells_of_no_outage(record: logging.LogRecord) -> bool:
    """Whether a record is of anything but a Redis that is away, or whose disk is full."""
    error = record.exc_info[1] if record.exc_info else None
    is_refused = isinstance(error, redis.ResponseError) and str(error).startswith("MISCONF")
    is_lost = isinstance(error, redis.ConnectionError) or "connection error" in str(record.msg)
    return not (is_refused or is_lost)


class Jobs:
    """The ladder's jobs on a broker.

    One run is computed at a time, and none of a ladder in its cooldown: on a busy
    server a ladder is dirty at every moment, and its runs would fill a core.
    """

    def __init__(
        self,
        broker: Broker,
        database: Database,
        dedup_keys: DedupKeys,
        *,
        stop: threading.Event | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], datetime] = now,
        published: Published = hear_nothing,
    ) -> None:
        self._database = database
        self._dedup_keys = dedup_keys
        self._stop = stop or threading.Event()
        self._clock = clock
        self._wall_clock = wall_clock
        self._published = published
        self._computing = threading.Lock()
        self._tallies = TallyCache()
        self._cooldown_ends: dict[LadderId, float] = {}
        self._outage = OutageLog(*DATABASE_WORDS)
        self.refresh_ladder = dramatiq.actor(
            broker=broker,
            queue_name=QUEUE,
            actor_name=ACTOR,
            max_retries=5,
            min_backoff=1_000,
            max_backoff=30_000,
            throws=UnknownLadderError,
        )(self._refresh_ladder)
        """The actor: refreshes the ladder of an id. A stop ends its wait for a cooldown."""

    def sweep(self) -> None:
        """Refresh every ladder that is due and not in its cooldown; failures are logged."""
        try:
            ladders = self._database.read(due_ladders, self._wall_clock())
        except SQLAlchemyError as error:
            if not is_outage(error, self._outage):
                _log.warning("can't look for ladders to refresh", error=str(error))
            return
        if not ladders:
            self._outage.end()
        for ladder_id in ladders:
            if self._cooldown(ladder_id) <= 0:
                self._sweep_one(ladder_id)

    def _sweep_one(self, ladder_id: LadderId) -> None:
        try:
            self._refresh(ladder_id)
        except Exception as error:  # noqa: BLE001 - one ladder's trouble must not hold up the others
            if not is_outage(error, self._outage):
                _log.exception("can't refresh a ladder", ladder_id=ladder_id)

    def _refresh_ladder(self, ladder_id: int) -> None:
        ladder = LadderId(ladder_id)
        self._stop.wait(max(0.0, self._cooldown(ladder)))
        with suppress(redis.RedisError):  # the key expires by itself
            self._dedup_keys.clear(ladder)
        try:
            self._refresh(ladder)
        except DBAPIError as error:
            if not is_outage(error, self._outage):
                raise
            raise Retry from error  # which dramatiq tells nobody of

    def _cooldown(self, ladder_id: LadderId) -> float:
        """The seconds left of the ladder's cooldown; not positive when it is over."""
        return self._cooldown_ends.get(ladder_id, self._clock()) - self._clock()

    def _refresh(self, ladder_id: LadderId) -> None:
        with self._computing:
            start, begin_time = self._clock(), self._wall_clock()
            run = refresh(self._database, ladder_id, self._wall_clock, self._tallies)
            if run is not None:
                self._published(run, begin_time, self._wall_clock())
                self._outage.end()
                end = self._clock()
                self._cooldown_ends[ladder_id] = end + min(
                    COOLDOWN_FACTOR * (end - start), MAX_COOLDOWN_S
                )

"""Queues of jobs for workers in other processes, on Redis."""

import threading
import time
from collections.abc import Callable

import redis
import structlog
from dramatiq import Message
from dramatiq.brokers.redis import RedisBroker
from dramatiq.errors import ConnectionClosed
from redis.backoff import NoBackoff
from redis.retry import Retry
from sqlalchemy.exc import DBAPIError

from meijin.store.database import is_unavailable

NAMESPACE = "meijin"
"""Begins every key; databases that share a Redis need different database numbers."""
SOCKET_TIMEOUT_S = 3.0
"""Of one call of Redis: a machine that stalls for a second is no outage."""
RETRY_INTERVAL_S = 1.0
"""Without an attempt after one failed, so that those who ask don't queue up for it."""

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
        with self._lock:
            if not self._is_on:
                _log.warning(self._gone, error=str(error))
            self._is_on = True

    def end(self) -> None:
        with self._lock:
            if self._is_on:
                _log.info(self._back)
            self._is_on = False


class LostRedisError(redis.ConnectionError, ConnectionClosed):
    """Redis is away, in redis-py's terms and in dramatiq's, which recovers from its own alone."""


class _Client(redis.Redis):
    def execute_command(self, *args: object, **options: object) -> object:
        try:
            return super().execute_command(*args, **options)  # type: ignore[no-untyped-call]
        except (redis.ConnectionError, redis.TimeoutError) as error:
            raise LostRedisError(str(error)) from error


def connect(url: str) -> redis.Redis:
    """A client of ``redis://host:port/0`` or ``unix:///path``; it connects when first used.

    It retries nothing: redis-py's own retries make a call take 26 s in a
    partitioned network, with a socket timeout of 2 s.
    """
    return _Client.from_url(
        url,
        socket_timeout=SOCKET_TIMEOUT_S,
        socket_connect_timeout=SOCKET_TIMEOUT_S,
        retry=Retry(NoBackoff(), 0),
    )


def is_outage(error: Exception, outage: OutageLog) -> bool:
    """Whether an error says that the database is away; the log is told of it."""
    if not isinstance(error, DBAPIError) or not is_unavailable(error):
        return False
    outage.begin(error.orig)
    return True


def check(client: redis.Redis, outage: OutageLog) -> None:
    """Tell the log where Redis is away, and where it is back."""
    try:
        client.ping()
    except redis.RedisError as error:
        outage.begin(error)
    else:
        outage.end()


class JobQueue:
    """Enqueues the jobs of an actor for the workers, and fails nobody who asks for one.

    A call may block for `SOCKET_TIMEOUT_S`, so no event loop should make it;
    any number of threads may.

    Args:
        url: ``redis://host:port/0`` or ``unix:///path``.
        queue: What the workers consume.
        actor: What they call with the number that a job is of.
        outage: Hears of failures.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        url: str,
        *,
        queue: str,
        actor: str,
        outage: OutageLog,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.client = connect(url)
        self._queue = queue
        self._actor = actor
        self._broker = RedisBroker(  # type: ignore[no-untyped-call]
            client=self.client, namespace=NAMESPACE, maintenance_chance=0, middleware=[]
        )
        self._outage = outage
        self._clock = clock
        self._resume = float("-inf")

    def close(self) -> None:
        self.client.close()

    def enqueue(self, key: int) -> bool:
        """Enqueue a job, after the change that it is for was committed.

        Returns:
            Whether one is on its way; a sweep of the worker finds what there is to do anyway.
        """
        if self._clock() < self._resume:
            return False
        try:
            self.send(key)
        except redis.RedisError as error:
            self._resume = self._clock() + RETRY_INTERVAL_S
            self._outage.begin(error)
            return False
        self._outage.end()
        return True

    def send(self, key: int) -> None:
        """Send a message, or see that none is needed.

        Raises:
            redis.RedisError: Redis does not take it.
        """
        self._broker.enqueue(Message(self._queue, self._actor, (key,), {}, {}))

    def length(self) -> int | None:
        """How many jobs wait for a worker; ``None`` while Redis does not answer."""
        try:
            return int(self.client.llen(f"{NAMESPACE}:{self._queue}"))
        except redis.RedisError:
            return None

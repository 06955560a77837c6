"""The queue of refresh jobs: one message to the workers for many games of a ladder."""

import threading
import time
from collections.abc import Callable

import redis
import structlog
from dramatiq import Message
from dramatiq.brokers.redis import RedisBroker
from redis.backoff import NoBackoff
from redis.retry import Retry

from meijin.store.schema import LadderId

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


ACTOR = "refresh_ladder"
QUEUE = "ladder"
NAMESPACE = "meijin"
"""Begins every key; databases that share a Redis need different database numbers."""
SOCKET_TIMEOUT_S = 3.0
"""Of one call of Redis: a machine that stalls for a second is no outage."""
DEDUP_TTL_MS = 30_000
"""Milliseconds after which a key expires, so that a lost job is sent again."""
RETRY_INTERVAL_S = 1.0
"""Without an attempt after one failed, so that finished games don't queue up for it."""

REDIS_WORDS = ("no Redis; ladders follow more slowly", "Redis is back")
"""What the log says of an outage of Redis, and of its end."""


class _Client(redis.Redis):
    """A client whose timeouts are lost connections: dramatiq recovers from those alone."""

    def execute_command(self, *args: object, **options: object) -> object:
        try:
            return super().execute_command(*args, **options)  # type: ignore[no-untyped-call]
        except redis.TimeoutError as error:
            raise redis.ConnectionError(str(error)) from error


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


class DedupKeys:
    """The deduplication key of each ladder's job: set while one is on its way."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def set(self, ladder_id: LadderId) -> bool:
        """Set the ladder's key; tell whether it was clear."""
        return bool(self._client.set(_dedup_key(ladder_id), b"", nx=True, px=DEDUP_TTL_MS))

    def clear(self, ladder_id: LadderId) -> None:
        """Clear the ladder's key: games that finish from now on need a new job."""
        self._client.delete(_dedup_key(ladder_id))


def _dedup_key(ladder_id: LadderId) -> str:
    return f"{NAMESPACE}:refresh-queued:{ladder_id}"


class RefreshQueue:
    """Enqueues refresh jobs for the workers, and fails nobody who asks for one.

    A call may block for `SOCKET_TIMEOUT_S`, so no event loop should make it;
    any number of threads may.
    """

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = connect(url)
        self._dedup_keys = DedupKeys(self._client)
        self._broker = RedisBroker(  # type: ignore[no-untyped-call]
            client=self._client, namespace=NAMESPACE, maintenance_chance=0, middleware=[]
        )
        self._clock = clock
        self._outage = OutageLog(*REDIS_WORDS)
        self._resume = float("-inf")

    def close(self) -> None:
        self._client.close()

    def enqueue(self, ladder_id: LadderId) -> bool:
        """Enqueue a job for the ladder unless one waits, after the change was committed.

        Returns:
            Whether a job is on its way; a sweep will find the ladder anyway.
        """
        if self._clock() < self._resume:
            return False
        try:
            if self._dedup_keys.set(ladder_id):
                self._broker.enqueue(Message(QUEUE, ACTOR, (ladder_id,), {}, {}))
        except redis.RedisError as error:
            self._resume = self._clock() + RETRY_INTERVAL_S
            self._outage.begin(error)
            return False
        self._outage.end()
        return True

    def length(self) -> int | None:
        """How many jobs wait for a worker; ``None`` while Redis does not answer."""
        try:
            return int(self._client.llen(f"{NAMESPACE}:{QUEUE}"))
        except redis.RedisError:
            return None

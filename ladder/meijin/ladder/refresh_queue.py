"""Hints that a ladder has changed: messages to the workers, one for many games."""

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

ACTOR = "refresh_ladder"
QUEUE = "ladder"
NAMESPACE = "meijin"
"""Begins every key; databases that share a Redis need different database numbers."""
SOCKET_TIMEOUT = 1.0
"""Seconds that one call of Redis may take."""
FLAG_TIME = 30_000
"""Milliseconds after which a flag falls by itself, so that a lost message is sent again."""
PAUSE = 1.0
"""Seconds without an attempt after one failed, so that finished games don't queue up for it."""

_log = structlog.get_logger()


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
        socket_timeout=SOCKET_TIMEOUT,
        socket_connect_timeout=SOCKET_TIMEOUT,
        retry=Retry(NoBackoff(), 0),
    )


class Flags:
    """A flag for each ladder that a message is on its way for."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def hoist(self, ladder_id: LadderId) -> bool:
        """Hoist the ladder's flag; tell whether it was down."""
        return bool(self._client.set(_flag(ladder_id), b"", nx=True, px=FLAG_TIME))

    def lower(self, ladder_id: LadderId) -> None:
        """Lower the ladder's flag: games that finish from now on need a new message."""
        self._client.delete(_flag(ladder_id))


def _flag(ladder_id: LadderId) -> str:
    return f"{NAMESPACE}:hinted:{ladder_id}"


class Outage:
    """Tells the log once that Redis is gone, and once that it is back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_on = False

    def begin(self, error: redis.RedisError) -> None:
        """Take note of a call that failed."""
        with self._lock:
            if not self._is_on:
                _log.warning("no Redis; ladders follow more slowly", error=str(error))
            self._is_on = True

    def end(self) -> None:
        """Take note of a call that worked."""
        with self._lock:
            if self._is_on:
                _log.info("Redis is back")
            self._is_on = False


class Hints:
    """Tells the workers that ladders have changed, and fails nobody who tells it so.

    A call may block for `SOCKET_TIMEOUT` seconds, so no event loop should make it;
    any number of threads may.
    """

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = connect(url)
        self._flags = Flags(self._client)
        self._broker = RedisBroker(  # type: ignore[no-untyped-call]
            client=self._client, namespace=NAMESPACE, maintenance_chance=0, middleware=[]
        )
        self._clock = clock
        self._outage = Outage()
        self._resume = float("-inf")

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def hint(self, ladder_id: LadderId) -> bool:
        """Have a worker look at the ladder, after the change was committed.

        Returns:
            Whether a message is on its way; a sweep will find the ladder anyway.
        """
        if self._clock() < self._resume:
            return False
        try:
            if self._flags.hoist(ladder_id):
                self._broker.enqueue(_message(ladder_id))
        except redis.RedisError as error:
            self._resume = self._clock() + PAUSE
            self._outage.begin(error)
            return False
        self._outage.end()
        return True


def _message(ladder_id: LadderId) -> Message[None]:
    return Message(queue_name=QUEUE, actor_name=ACTOR, args=(ladder_id,), kwargs={}, options={})

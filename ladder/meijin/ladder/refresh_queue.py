"""The queue of refresh jobs: one message to the workers for many games of a ladder."""

import time
from collections.abc import Callable

import redis

from meijin.ladder.job_queue import NAMESPACE, JobQueue, OutageLog
from meijin.store.schema import LadderId

ACTOR = "refresh_ladder"
QUEUE = "ladder"
DEDUP_TTL_MS = 30_000
"""Milliseconds after which a key expires, so that a lost job is sent again."""

REDIS_WORDS = ("no Redis; ladders follow more slowly", "Redis is back")
"""What the log says of an outage of Redis, and of its end."""


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


class RefreshQueue(JobQueue):
    """Enqueues a ladder's refresh job unless one waits."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(url, queue=QUEUE, actor=ACTOR, outage=OutageLog(*REDIS_WORDS), clock=clock)
        self._dedup_keys = DedupKeys(self.client)

    def send(self, key: int) -> None:
        if self._dedup_keys.set(LadderId(key)):
            super().send(key)

"""The queue of refresh jobs on a real Valkey server, and on none."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from unittest.mock import Mock

import pytest
import redis
from structlog.testing import capture_logs

from meijin.ladder.job_queue import NAMESPACE, RETRY_INTERVAL_S, connect
from meijin.ladder.refresh_queue import QUEUE, REDIS_WORDS, DedupKeys, RefreshQueue
from meijin.server.process.valkey import EmbeddedValkey
from meijin.store.schema import LadderId

LADDER, OTHER = LadderId(7), LadderId(8)


@pytest.fixture
def client(valkey: EmbeddedValkey) -> Iterator[redis.Redis]:
    with connect(valkey.url) as client:
        yield client


@pytest.fixture
def queue(valkey: EmbeddedValkey) -> Iterator[RefreshQueue]:
    """One with a clock on which every pause is over."""
    times = iter(range(0, 100_000, 10))
    with closing(RefreshQueue(valkey.url, lambda: next(times))) as queue:
        yield queue


def queued(client: redis.Redis) -> int:
    return int(client.llen(f"{NAMESPACE}:{QUEUE}"))


def test_a_thousand_games_are_one_message(client: redis.Redis, queue: RefreshQueue) -> None:
    """While a message is on its way, more games need no other, whatever thread they come from."""
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(queue.enqueue, [LADDER] * 1000))
    assert queued(client) == 1


def test_each_ladder_has_its_own_dedup_key(client: redis.Redis, queue: RefreshQueue) -> None:
    """Another ladder, or the same one after its key was cleared, is another message."""
    queue.enqueue(LADDER)
    queue.enqueue(OTHER)
    assert queued(client) == queue.length() == 2
    DedupKeys(client).clear(LADDER)
    queue.enqueue(LADDER)
    queue.enqueue(OTHER)
    assert queued(client) == queue.length() == 3


def test_a_dedup_key_expires(client: redis.Redis) -> None:
    """So that a message that was lost holds back no further jobs."""
    assert DedupKeys(client).set(LADDER)
    assert not DedupKeys(client).set(LADDER)
    (key,) = client.keys(f"{NAMESPACE}:*")
    assert 0 < client.pttl(key) <= 30_000


def test_without_redis_nothing_is_raised(no_redis: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The match path hears ``False``, and the log one line.

    Redis is called after each pause alone: finished games don't wait for a thousand timeouts.
    """
    now = 0.0
    queue = RefreshQueue(no_redis, lambda: now)
    assert queue.length() is None
    call = Mock(wraps=queue._dedup_keys.set)
    monkeypatch.setattr(queue._dedup_keys, "set", call)
    with capture_logs() as logs:
        for number in range(1, 6):
            assert not queue.enqueue(LADDER)
            assert not queue.enqueue(LADDER)
            assert call.call_count == number
            now += RETRY_INTERVAL_S
    assert [line["log_level"] for line in logs] == ["warning"]


def test_a_server_that_hangs_fails_nobody(valkey: EmbeddedValkey, queue: RefreshQueue) -> None:
    """A call ends with its timeout, and isn't retried."""
    assert queue.enqueue(LADDER)
    assert valkey.pid is not None
    os.kill(valkey.pid, signal.SIGSTOP)
    try:
        assert not queue.enqueue(LADDER)
    finally:
        os.kill(valkey.pid, signal.SIGCONT)


def test_a_restarted_server_is_found_again(
    valkey: EmbeddedValkey, client: redis.Redis, queue: RefreshQueue
) -> None:
    """The queue goes on by itself, and the log says so once."""
    assert queue.enqueue(LADDER)
    valkey.stop()
    with capture_logs() as logs:
        assert not queue.enqueue(LADDER)
        valkey.start()
        assert queue.enqueue(LADDER)
        assert queue.enqueue(LADDER)
    assert [line["event"] for line in logs] == list(REDIS_WORDS)
    assert queued(client) == 1


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("unix:///run/redis.sock", {"path": "/run/redis.sock"}),
        ("redis://localhost:6380/3", {"port": 6380, "db": 3}),
    ],
)
def test_both_kinds_of_url_are_understood(url: str, wanted: dict[str, object]) -> None:
    """Nothing is connected before the first use; one that can't work is told at once."""
    options = connect(url).connection_pool.connection_kwargs
    assert {name: options[name] for name in wanted} == wanted
    assert options["socket_timeout"] == options["socket_connect_timeout"] == 3.0
    assert options["retry"]._retries == 0
    with pytest.raises(ValueError, match="scheme"):
        RefreshQueue("localhost:6379")

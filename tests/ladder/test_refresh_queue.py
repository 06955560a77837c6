"""The queue of refresh jobs on a real Valkey server, and on none."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
import redis
from structlog.testing import capture_logs

from meijin.ladder.refresh_queue import (
    NAMESPACE,
    QUEUE,
    RETRY_INTERVAL_S,
    DedupKeys,
    RefreshQueue,
    connect,
)
from meijin.store.schema import LadderId

if TYPE_CHECKING:
    from meijin.server.process.valkey import EmbeddedValkey

LADDER = LadderId(7)


@pytest.fixture
def client(valkey: "EmbeddedValkey") -> Iterator[redis.Redis]:
    """A client of the server."""
    client = connect(valkey.url)
    yield client
    client.close()


@pytest.fixture
def clock() -> Callable[[], float]:
    """A clock on which every look is later than a pause."""
    times = iter(range(0, 1_000_000, 10))
    return lambda: next(times)


@pytest.fixture
def open_queue() -> Iterator[Callable[..., RefreshQueue]]:
    """Make queues that are closed at the end."""
    opened: list[RefreshQueue] = []

    def make(url: str, *arguments: Callable[[], float]) -> RefreshQueue:
        opened.append(RefreshQueue(url, *arguments))
        return opened[-1]

    yield make
    for queue in opened:
        queue.close()


def queued(client: redis.Redis) -> int:
    """How many messages wait in the queue."""
    return int(client.llen(f"{NAMESPACE}:{QUEUE}"))


def test_a_thousand_games_are_one_message(
    valkey: "EmbeddedValkey", client: redis.Redis, open_queue: Callable[..., RefreshQueue]
) -> None:
    """While a message is on its way, more games need no other."""
    queue = open_queue(valkey.url)
    assert all(queue.enqueue(LADDER) for _ in range(1000))
    assert queued(client) == 1


def test_threads_share_the_queue(
    valkey: "EmbeddedValkey", client: redis.Redis, open_queue: Callable[..., RefreshQueue]
) -> None:
    """Eight threads at once make one message too."""
    queue = open_queue(valkey.url)
    threads = [
        threading.Thread(target=lambda: [queue.enqueue(LADDER) for _ in range(50)])
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert queued(client) == 1


def test_each_ladder_has_its_own_dedup_key(
    valkey: "EmbeddedValkey", client: redis.Redis, open_queue: Callable[..., RefreshQueue]
) -> None:
    """Another ladder, or the same one after its key was cleared, is another message."""
    queue = open_queue(valkey.url)
    queue.enqueue(LADDER)
    queue.enqueue(LadderId(8))
    assert queued(client) == 2
    DedupKeys(client).clear(LADDER)
    queue.enqueue(LADDER)
    queue.enqueue(LadderId(8))
    assert queued(client) == 3


def test_a_dedup_key_expires(client: redis.Redis) -> None:
    """A message that was lost doesn't hold back jobs for ever."""
    assert DedupKeys(client).set(LADDER)
    assert not DedupKeys(client).set(LADDER)
    (key,) = client.keys(f"{NAMESPACE}:*")
    assert 0 < client.pttl(key) <= 30_000


def test_without_redis_nothing_is_raised(
    no_redis: str, open_queue: Callable[..., RefreshQueue]
) -> None:
    """The match path hears ``False``, and the log one line."""
    now = 0.0

    def clock() -> float:
        return now

    queue = open_queue(no_redis, clock)
    with capture_logs() as logs:
        for _ in range(5):
            assert not queue.enqueue(LADDER)
            now += RETRY_INTERVAL_S
    assert [line["log_level"] for line in logs] == ["warning"]


def test_after_a_failure_it_pauses(no_redis: str, open_queue: Callable[..., RefreshQueue]) -> None:
    """A thousand finished games don't wait for a thousand timeouts."""
    now = 0.0
    queue = open_queue(no_redis, lambda: now)
    assert not queue.enqueue(LADDER)

    def fail(*_arguments: object, **_options: object) -> None:
        pytest.fail("it called Redis in its pause")

    queue._dedup_keys.set = fail  # type: ignore[assignment,method-assign]
    assert not queue.enqueue(LADDER)


def test_a_server_that_hangs_costs_one_timeout(
    valkey: "EmbeddedValkey", open_queue: Callable[..., RefreshQueue]
) -> None:
    """A call ends after a second, and isn't retried."""
    queue = open_queue(valkey.url)
    assert queue.enqueue(LADDER)
    assert valkey.pid is not None
    os.kill(valkey.pid, signal.SIGSTOP)
    try:
        start = time.monotonic()
        assert not queue.enqueue(LADDER)
        assert time.monotonic() - start < 5
    finally:
        os.kill(valkey.pid, signal.SIGCONT)


def test_a_restarted_server_is_found_again(
    valkey: "EmbeddedValkey",
    client: redis.Redis,
    open_queue: Callable[..., RefreshQueue],
    clock: Callable[[], float],
) -> None:
    """The queue goes on by itself, and the log says so once."""
    queue = open_queue(valkey.url, clock)
    assert queue.enqueue(LADDER)
    valkey.stop()
    with capture_logs() as logs:
        assert not queue.enqueue(LADDER)
        valkey.start()
        assert queue.enqueue(LADDER)
        assert queue.enqueue(LADDER)
    assert [line["event"] for line in logs] == [
        "no Redis; ladders follow more slowly",
        "Redis is back",
    ]
    assert queued(client) == 1


@pytest.mark.parametrize("url", ["unix:///run/redis.sock", "redis://localhost:6380/3"])
def test_both_kinds_of_url_are_understood(url: str) -> None:
    """Nothing is connected before the first use."""
    options = connect(url).connection_pool.connection_kwargs
    wanted = {"path": "/run/redis.sock"} if url.startswith("unix") else {"port": 6380, "db": 3}
    assert {name: options[name] for name in wanted} == wanted
    assert options["socket_timeout"] == options["socket_connect_timeout"] == 1.0


def test_a_wrong_url_is_an_error_at_once() -> None:
    """What can't work is told when it is set up, not when the first game ends."""
    with pytest.raises(ValueError, match="scheme"):
        RefreshQueue("localhost:6379")


def test_the_queue_tells_its_length(
    valkey: "EmbeddedValkey", open_queue: Callable[..., RefreshQueue]
) -> None:
    """One job of each ladder; nothing is told while Redis is away."""
    queue = open_queue(valkey.url)
    for number in (1, 1, 2):
        queue.enqueue(LadderId(number))
    assert queue.length() == 2
    assert open_queue("unix:///nonexistent/valkey.sock").length() is None

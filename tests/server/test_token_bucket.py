"""Token buckets, at invented times."""

from __future__ import annotations

import pytest

from meijin.server.token_bucket import Rate, TokenBucket, TokenBuckets

RATE = Rate(per_second=2, burst=3)


@pytest.fixture
def bucket() -> TokenBucket:
    return TokenBucket(RATE, 100.0)


def test_a_burst_is_had_at_once(bucket: TokenBucket) -> None:
    """And no more than it, until time has gone by."""
    assert [bucket.take(100.0) for _ in range(5)] == [True, True, True, False, False]
    assert bucket.wait(100.0) == 0.5
    assert bucket.take(100.5)
    assert not bucket.take(100.5)
    assert [bucket.take(9_999.0) for _ in range(4)] == [True, True, True, False]


def test_tokens_of_the_future_may_be_reserved(bucket: TokenBucket) -> None:
    """Each waits for those before it."""
    assert [bucket.reserve(100.0) for _ in range(5)] == [0, 0, 0, 0.5, 1.0]
    assert bucket.reserve(100.5) == 1.0


def test_tokens_are_added(bucket: TokenBucket) -> None:
    """But a full bucket stays as it is."""
    bucket.add()
    assert [bucket.take(100.0) for _ in range(4)] == [True, True, True, False]
    bucket.add()
    assert bucket.take(100.0)


def test_each_key_has_a_bucket() -> None:
    """What one takes another may still have."""
    buckets: TokenBuckets[str] = TokenBuckets(RATE)
    assert all(buckets.get("a", 0.0).take(0.0) for _ in range(3))
    assert not buckets.get("a", 0.0).take(0.0)
    assert buckets.get("b", 0.0).take(0.0)


def test_there_are_no_more_buckets_than_the_capacity() -> None:
    """The one longest unused goes: whoever is busy stays limited among any number of others."""
    buckets: TokenBuckets[int] = TokenBuckets(RATE, capacity=10)
    while buckets.get(-1, 0.0).take(0.0):
        pass
    for key in range(10_000):
        buckets.get(key, 0.0)
        assert not buckets.get(-1, 0.0).take(0.0)
    assert len(buckets) == 10

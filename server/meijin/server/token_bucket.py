"""Token buckets: how much of something may be done, at once and as time goes by.

The library `limits` (3.7 MB with what it needs) reads the clock itself and refuses what is beyond a
rate; here callers wait for their turn, and tests pass the time in.
"""

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Rate:
    per_second: float
    burst: float
    """How many tokens it holds, and has at the beginning."""


class TokenBucket:
    """One bucket. The time is in seconds of any monotonic clock, and passed in."""

    __slots__ = ("_level", "_rate", "_since")

    def __init__(self, rate: Rate, now: float) -> None:
        self._rate = rate
        self._level = rate.burst
        self._since = now

    def take(self, now: float) -> bool:
        self._refill(now)
        if self._level < 1:
            return False
        self._level -= 1
        return True

    def wait(self, now: float) -> float:
        """The seconds until there is a token; 0 when there is one."""
        self._refill(now)
        return max(1 - self._level, 0) / self._rate.per_second

    def reserve(self, now: float, count: float = 1) -> float:
        """Take tokens that may only come in some time; the seconds until the first does."""
        wait = self.wait(now)
        self._level -= count
        return wait

    def add(self, count: float = 1) -> None:
        """Add tokens before their time."""
        self._level = min(self._level + count, self._rate.burst)

    def _refill(self, now: float) -> None:
        self._level = min(
            self._level + (now - self._since) * self._rate.per_second, self._rate.burst
        )
        self._since = now


class TokenBuckets(Generic[K]):
    """A bucket for each key, as many as `capacity`: the one longest unused is forgotten first.

    A forgotten bucket is a full one again, so whoever has more keys than that to spend
    may do `capacity` times what one may.
    """

    def __init__(self, rate: Rate, capacity: int = 10_000) -> None:
        self._rate = rate
        self._capacity = capacity
        self._buckets: OrderedDict[K, TokenBucket] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def wait(self, key: K, now: float) -> float:
        """The seconds until a key has a token; 0 when it has one. Makes no bucket."""
        bucket = self._buckets.get(key)
        return 0.0 if bucket is None else bucket.wait(now)

    def get(self, key: K, now: float) -> TokenBucket:
        bucket = self._buckets.get(key)
        if bucket is None:
            if len(self._buckets) >= self._capacity:
                self._buckets.popitem(last=False)
            bucket = self._buckets[key] = TokenBucket(self._rate, now)
        else:
            self._buckets.move_to_end(key)
        return bucket

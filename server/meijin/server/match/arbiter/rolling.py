"""Rolling counts: what has come in the last minutes, in a bucket a minute."""

from collections import deque
from dataclasses import dataclass

NS_PER_MINUTE = 60_000_000_000


@dataclass(slots=True)
class _Bucket:
    minute: int
    total: int = 0
    largest: int = 0


class RollingTotal:
    """Adds up amounts of the last `minutes`, to a minute; it is as large whatever comes."""

    def __init__(self, minutes: int) -> None:
        self._buckets: deque[_Bucket] = deque(maxlen=minutes)

    def add(self, amount: int, now_ns: int) -> None:
        """Add an amount, at an instant of a monotonic clock."""
        minute = now_ns // NS_PER_MINUTE
        if not self._buckets or self._buckets[-1].minute != minute:
            self._buckets.append(_Bucket(minute))
        bucket = self._buckets[-1]
        bucket.total += amount
        bucket.largest = max(bucket.largest, amount)

    def total(self, minutes: int, now_ns: int) -> int:
        """The sum of what has come in the last so many minutes."""
        return sum(bucket.total for bucket in self._since(minutes, now_ns))

    def largest(self, minutes: int, now_ns: int) -> int:
        """The largest amount that has come in the last so many minutes; 0 for none."""
        return max((bucket.largest for bucket in self._since(minutes, now_ns)), default=0)

    def _since(self, minutes: int, now_ns: int) -> list[_Bucket]:
        first = now_ns // NS_PER_MINUTE - minutes
        return [bucket for bucket in self._buckets if bucket.minute > first]

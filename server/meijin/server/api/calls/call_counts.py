"""Counts of calls: by method, status code and reason, with the time that unary ones took."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

import grpc
from prometheus_client import Counter, Histogram, Metric

from meijin.server.errors import MeijinError

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds."""


class CallEnd:
    def __init__(self) -> None:
        self.code = grpc.StatusCode.OK
        self.reason = ""
        """Why it was refused; empty where it was not."""

    def refuse(self, error: MeijinError) -> None:
        self.code, self.reason = error.code, error.reason


class CallCounts:
    """Counts every call; its labels are methods, codes and reasons that the server has itself."""

    def __init__(self) -> None:
        self._calls = Counter(
            "meijin_calls",
            "Calls that have ended, by method, status code and reason of the refusal.",
            ("method", "code", "reason"),
            registry=None,
        )
        self._seconds = Histogram(
            "meijin_call_seconds",
            "From a unary call's request to its answer.",
            ("method",),
            buckets=BUCKETS,
            registry=None,
        )

    def collect(self) -> Iterator[Metric]:
        yield from self._calls.collect()
        yield from self._seconds.collect()

    @contextmanager
    def count(self, method: str, *, is_unary: bool) -> Iterator[CallEnd]:
        """Count a call from its request to its end."""
        end, began = CallEnd(), perf_counter()
        try:
            yield end
        except BaseException:
            if end.code is grpc.StatusCode.OK:
                end.code = grpc.StatusCode.CANCELLED
            raise
        finally:
            self._calls.labels(method, end.code.name, end.reason).inc()
            if is_unary:
                self._seconds.labels(method).observe(perf_counter() - began)

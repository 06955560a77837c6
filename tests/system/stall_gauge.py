"""The stalls of a server's event loop, as its metrics tell them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.request import urlopen

from prometheus_client.parser import text_string_to_metric_families
from tests.system.processes import Server

MOST = 0.02
"""Seconds of processor time that the loop may work in one stall: a bucket of the histogram."""

METRICS = "--metrics=127.0.0.1:0"
"""For a server whose stalls are looked at."""


class StallGauge:
    """Reads the histogram of a server's stalls.

    What counts is the processor time of the loop's thread: the wall clock tells how busy the
    machine is. It is at most 10 ms too much.
    """

    def __init__(self, server: Server) -> None:
        (address,) = set(re.findall(r'"address": "(\S+?)"', server.process.words))
        self._url = f"http://{address}/metrics"

    @contextmanager
    def no_stall(self) -> Iterator[None]:
        """Fail if the loop works for too long in one stall before the context ends."""
        before = self._above()
        yield
        after = self._above()
        longer = {bound: after[bound] - count for bound, count in before.items()}
        assert not longer[MOST], f"stalls with more work than so many seconds: {longer}"

    def _above(self) -> dict[float, int]:
        """How many stalls so far had more work of the loop in them than each bound."""
        with urlopen(self._url, timeout=60) as response:
            families = text_string_to_metric_families(response.read().decode())
        (family,) = (each for each in families if each.name == "meijin_event_loop_stalls_seconds")
        counts = {
            float(sample.labels["le"]): int(sample.value)
            for sample in family.samples
            if sample.labels["time"] == "loop" and "le" in sample.labels
        }
        return {bound: counts[float("inf")] - count for bound, count in counts.items()}

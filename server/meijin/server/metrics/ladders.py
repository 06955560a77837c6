"""How far the ladders are behind their games, looked at now and then off the event loop."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import structlog
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from meijin.server.errors import StoreAwayError
from meijin.server.storage import Storage
from meijin.server.tournaments.refresh_jobs import RefreshSender
from meijin.store.ladders.ladders import LadderBacklog, backlog

log = structlog.get_logger()

LOOK_INTERVAL = timedelta(seconds=15)
"""Between two looks, as often as Prometheus usually scrapes."""


class LadderWatch:
    """Keeps what was last seen of the ladders and their queue.

    A scrape never waits for the database or for Redis: it is needed most while they are away.
    """

    def __init__(self, storage: Storage, refreshes: RefreshSender) -> None:
        self._storage = storage
        self._refreshes = refreshes
        self._seen: LadderBacklog | None = None
        self._queued: int | None = None

    async def run(self) -> None:
        while True:
            await self.look()
            await asyncio.sleep(LOOK_INTERVAL.total_seconds())

    async def look(self) -> None:
        """Look once; what does not answer is left out until it does."""
        try:
            self._seen = await self._storage.read(backlog)
        except StoreAwayError:
            self._seen = None
        self._queued = await self._refreshes.queue_length()

    def collect(self) -> Iterator[Metric]:
        """What was seen, for a registry; nothing of what does not answer."""
        seen = self._seen
        if seen is not None:
            age = timedelta(0) if seen.oldest is None else datetime.now(UTC) - seen.oldest
            yield GaugeMetricFamily(
                "meijin_ladders_outdated",
                "Ladders with games that the published run does not have.",
                seen.outdated,
            )
            yield GaugeMetricFamily(
                "meijin_ladder_changes_waiting",
                "The most changes of one ladder since its published run.",
                seen.changes,
            )
            yield GaugeMetricFamily(
                "meijin_ladder_run_age_seconds",
                "Age of the oldest published run among outdated ladders; 0 without any.",
                max(0.0, age.total_seconds()),
            )
        if self._queued is not None:
            yield GaugeMetricFamily(
                "meijin_refresh_jobs_queued", "Jobs that wait for a ladder's worker.", self._queued
            )

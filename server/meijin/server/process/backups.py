"""Automatic backups: the database is copied every so often, on a thread of its own."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import structlog
from prometheus_client import Counter, Metric
from prometheus_client.core import GaugeMetricFamily

from meijin.store.backup import back_up, backups_in, free_backup, prune
from meijin.store.errors import BackupError

log = structlog.get_logger()

RETRY_INTERVAL = timedelta(minutes=10)
"""After a backup that failed, unless backups are taken more often anyway."""


class Backups:
    """Takes backups of an SQLite database for as long as the server runs.

    One that fails is logged as an error and tried again; games have no part in it.

    Args:
        every: Between two of them; the first is due when the newest that is there is as old.
        keep: How many are kept.
    """

    def __init__(
        self,
        file: Path,
        folder: Path,
        *,
        every: timedelta,
        keep: int,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._file = file
        self._folder = folder
        self._every = every
        self._keep = keep
        self._clock = clock
        self._failures = Counter(
            "meijin_backup_failures", "Automatic backups that failed.", registry=None
        )

    def collect(self) -> Iterator[Metric]:
        """The age of the newest backup and the failures, for a registry."""
        yield from self._failures.collect()
        newest = next(iter(backups_in(self._folder)), None)
        if newest is not None:
            yield GaugeMetricFamily(
                "meijin_backup_age_seconds",
                "Age of the newest backup.",
                (self._clock() - newest.time).total_seconds(),
            )

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1, "backup") as pool:
            while True:
                await asyncio.sleep(self.pause().total_seconds())
                if not await loop.run_in_executor(pool, self.take):
                    await asyncio.sleep(min(self._every, RETRY_INTERVAL).total_seconds())

    def pause(self) -> timedelta:
        """How long until the next one is due."""
        newest = next(iter(backups_in(self._folder)), None)
        if newest is None:
            return timedelta(0)
        return max(timedelta(0), newest.time + self._every - self._clock())

    def take(self) -> bool:
        """Take one and delete old ones; tell whether that worked."""
        now = self._clock()
        target = free_backup(self._folder, now)
        try:
            size = back_up(self._file, target)
            deleted = prune(self._folder, self._keep)
        except (BackupError, OSError) as error:
            self._failures.inc()
            log.error("the backup failed", error=str(error))
            return False
        seconds = (self._clock() - now).total_seconds()
        log.info("backed up", file=str(target), bytes=size, seconds=seconds, deleted=len(deleted))
        return True

"""Retention: bytes of programs that nobody has any more are deleted after a while."""

import asyncio
from datetime import timedelta

import structlog

from meijin.programs.depot import Depot
from meijin.programs.errors import DepotError
from meijin.server.storage import Storage, retry_while_unavailable
from meijin.store.programs.programs import digests_in_use

log = structlog.get_logger()

SWEEP_INTERVAL = timedelta(hours=1)


class ProgramRetention:
    """Sweeps the depot every hour; the rows of programs that were retired stay."""

    def __init__(self, depot: Depot, storage: Storage) -> None:
        self._depot = depot
        self._storage = storage

    async def run(self) -> None:
        while True:
            try:
                await retry_while_unavailable(self.sweep)
            except (DepotError, OSError) as error:
                log.warning("can't delete programs that nobody has", error=str(error))
            await asyncio.sleep(SWEEP_INTERVAL.total_seconds())

    async def sweep(self) -> None:
        """Delete what nobody has, and uploads that were cut a day ago."""
        named = await self._storage.read(digests_in_use)
        swept = await asyncio.to_thread(self._depot.sweep, named)
        if swept.partials or swept.digests:
            log.info(
                "programs deleted that nobody has",
                programs=len(swept.digests),
                cut_uploads=swept.partials,
            )

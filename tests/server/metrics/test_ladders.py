"""How far the ladders are behind, as metrics."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from prometheus_client import CollectorRegistry

from meijin.server.errors import StoreAwayError
from meijin.server.metrics.ladders import LadderWatch
from meijin.store.ladders.ladders import LadderBacklog


class Sources:
    """A store and a queue that answer as told, and the watch of them."""

    def __init__(self) -> None:
        self.seen: LadderBacklog | None = None
        self.queued: int | None = None
        this = cast("Any", self)
        self._watch = LadderWatch(this, this)

    async def read(self, _query: object) -> LadderBacklog:
        if self.seen is None:
            raise StoreAwayError("away")
        return self.seen

    async def queue_length(self) -> int | None:
        return self.queued

    async def look(self) -> dict[str, Any]:
        await self._watch.look()
        return self.values()

    def values(self) -> dict[str, Any]:
        registry = CollectorRegistry()
        registry.register(self._watch)
        return {metric.name: metric.samples[0].value for metric in registry.collect()}


async def test_what_was_seen_is_told() -> None:
    """Before the first look nothing is; a figure of before would look as if all were well."""
    sources = Sources()
    assert sources.values() == {}
    hour_ago = datetime.now(UTC) - timedelta(hours=1)
    sources.seen, sources.queued = LadderBacklog(outdated=2, changes=7, oldest=hour_ago), 3
    seen = await sources.look()
    assert seen.pop("meijin_ladder_run_age_seconds") == pytest.approx(3600, abs=60)
    assert seen == {
        "meijin_ladders_outdated": 2,
        "meijin_ladder_changes_waiting": 7,
        "meijin_refresh_jobs_queued": 3,
    }
    sources.seen = sources.queued = None
    assert await sources.look() == {}


async def test_ladders_without_a_run_have_no_age() -> None:
    """A first game that was just rated is no old run."""
    sources = Sources()
    sources.seen = LadderBacklog(outdated=1, changes=1, oldest=None)
    assert (await sources.look())["meijin_ladder_run_age_seconds"] == 0

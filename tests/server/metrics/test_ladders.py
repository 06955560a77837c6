"""How far the ladders are behind, as metrics."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from prometheus_client import CollectorRegistry

from meijin.server.errors import StoreAwayError
from meijin.server.metrics.ladders import LadderWatch
from meijin.store.ladders.ladders import LadderBacklog

if TYPE_CHECKING:
    from meijin.server.storage import Storage
    from meijin.server.tournaments.refresh_jobs import RefreshSender


class Sources:
    """A store and a queue that answer as told."""

    def __init__(self) -> None:
        hour_ago = datetime.now(UTC) - timedelta(hours=1)
        self.seen: LadderBacklog | None = LadderBacklog(outdated=2, changes=7, oldest=hour_ago)
        self.queued: int | None = 3

    async def read(self, _query: object) -> LadderBacklog:
        """What the store says, unless it is away."""
        if self.seen is None:
            raise StoreAwayError("away")
        return self.seen

    async def queue_length(self) -> int | None:
        """What the queue says."""
        return self.queued


@pytest.fixture
def sources() -> Sources:
    """Two ladders behind, three jobs."""
    return Sources()


@pytest.fixture
def watch(sources: Sources) -> LadderWatch:
    """A watch of them."""
    store: Storage = sources  # type: ignore[assignment]  # as far as it is asked
    queue: RefreshSender = sources  # type: ignore[assignment]  # likewise
    return LadderWatch(store, queue)


def values(watch: LadderWatch) -> dict[str, Any]:
    """What a scrape gets."""
    registry = CollectorRegistry()
    registry.register(watch)
    return {metric.name: metric.samples[0].value for metric in registry.collect()}


async def test_what_was_seen_is_told(watch: LadderWatch) -> None:
    """Before the first look nothing is."""
    assert values(watch) == {}
    await watch.look()
    seen = values(watch)
    assert seen.pop("meijin_ladder_run_age_seconds") == pytest.approx(3600, abs=60)
    assert seen == {
        "meijin_ladders_outdated": 2,
        "meijin_ladder_changes_waiting": 7,
        "meijin_refresh_jobs_queued": 3,
    }


async def test_what_does_not_answer_is_left_out(watch: LadderWatch, sources: Sources) -> None:
    """A figure of before would look as if all were well."""
    await watch.look()
    sources.seen = None
    sources.queued = None
    await watch.look()
    assert values(watch) == {}


async def test_ladders_without_a_run_have_no_age(watch: LadderWatch, sources: Sources) -> None:
    """A first game that was just rated is no old run."""
    sources.seen = LadderBacklog(outdated=1, changes=1, oldest=None)
    await watch.look()
    assert values(watch)["meijin_ladder_run_age_seconds"] == 0

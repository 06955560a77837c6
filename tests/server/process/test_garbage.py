"""The garbage collector of a server."""

import asyncio
import gc
from collections.abc import Iterator
from datetime import timedelta

import pytest

from meijin.server.process import garbage
from meijin.server.process.garbage import GarbageCollector


class Ring:
    """An object that reference counts never free."""

    freed = 0

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        Ring.freed += 1


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    Ring.freed = 0
    yield
    gc.unfreeze()


async def test_what_is_alive_at_the_start_is_frozen() -> None:
    """The collector looks at new objects alone, and the thresholds are put back."""
    before = gc.get_threshold()
    frozen = gc.get_freeze_count()
    with GarbageCollector():
        assert gc.get_freeze_count() > frozen + 10_000
        assert len(gc.get_objects(generation=2)) < 10_000
        assert gc.get_threshold() == (*before[:2], garbage.FULL_AFTER)
    assert gc.get_threshold() == before


async def test_what_a_long_collection_finds_is_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    with GarbageCollector():
        monkeypatch.setattr(garbage, "LONG_NS", 10**12)
        kept = [[number] for number in range(50_000)]
        frozen = gc.get_freeze_count()
        gc.collect()
        await asyncio.sleep(0)
        assert gc.get_freeze_count() <= frozen
        monkeypatch.setattr(garbage, "LONG_NS", 0)
        gc.collect()
        monkeypatch.setattr(garbage, "LONG_NS", 10**12)
        await asyncio.sleep(0)
        assert gc.get_freeze_count() > frozen + len(kept) // 2


async def test_garbage_among_what_is_frozen_is_found_when_nobody_plays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While games run it is left alone: looking for it takes long."""
    rings = [Ring()]
    asked: list[int] = []
    is_done = asyncio.Event()

    def is_idle() -> bool:
        asked.append(Ring.freed)
        if len(asked) > 2:
            is_done.set()
        return len(asked) == 2

    monkeypatch.setattr(garbage, "THAW_INTERVAL", timedelta(0))
    with GarbageCollector() as collector:
        rings.clear()
        gc.collect()
        running = asyncio.create_task(collector.run(is_idle))
        await is_done.wait()
        running.cancel()
    assert asked[:3] == [0, 0, 1]

"""The page cache: one look for all who ask, and nothing written twice."""

from __future__ import annotations

import asyncio
import gzip
import threading
from collections.abc import AsyncIterator
from datetime import timedelta
from unittest.mock import Mock

import pytest
from starlette.requests import Request

from meijin.v1 import game_service_pb2 as pb
from meijin.web import cache as module
from meijin.web.cache import LazyPage, PageCache
from meijin.web.refusals import Refusal

AGE = timedelta(seconds=2)


class Source:
    """Drafts a page that says how often it was written."""

    def __init__(self) -> None:
        self.looks = 0
        self.writes = 0
        self.game_id = "1"

    async def draft(self) -> LazyPage:
        self.looks += 1
        return LazyPage((pb.GetGameRequest(game_id=self.game_id),), self._write, "text/plain")

    def _write(self) -> str:
        self.writes += 1
        return f"written {self.writes}"


@pytest.fixture
def clock() -> Mock:
    """Tells the time that a test sets."""
    return Mock(return_value=0.0)


@pytest.fixture
async def cache(clock: Mock) -> AsyncIterator[PageCache]:
    cache = PageCache(clock)
    yield cache
    cache.close()


async def test_page_is_looked_up_again_after_its_age(cache: PageCache, clock: Mock) -> None:
    """It is written anew only if it shows something else."""
    source = Source()
    for now, looks, writes in ((0.0, 1, 1), (1.9, 1, 1), (2.0, 2, 1)):
        clock.return_value = now
        page = await cache.page("key", source.draft, AGE)
        assert (source.looks, source.writes) == (looks, writes)
        assert page.body == b"written 1"
    source.game_id, clock.return_value = "2", 4.0
    assert (await cache.page("key", source.draft, AGE)).body == b"written 2"


async def test_many_who_ask_share_a_look(cache: PageCache) -> None:
    """Whoever asks while a page is made gets it too."""
    source = Source()
    pages = await asyncio.gather(*(cache.page("key", source.draft, AGE) for _ in range(50)))
    assert (source.looks, source.writes) == (1, 1)
    assert len({page.etag for page in pages}) == 1


async def test_who_leaves_does_not_stop_the_others(cache: PageCache) -> None:
    """A page is made to its end."""
    source = Source()
    first = asyncio.create_task(cache.page("key", source.draft, AGE))
    second = asyncio.create_task(cache.page("key", source.draft, AGE))
    await asyncio.sleep(0)
    first.cancel()
    assert (await second).body == b"written 1"


async def test_failure_is_not_kept(cache: PageCache) -> None:
    """The next who asks has it looked up again."""
    source = Source()

    async def fail() -> LazyPage:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await cache.page("key", fail, AGE)
    assert (await cache.page("key", source.draft, AGE)).body == b"written 1"


async def test_cache_is_bounded(cache: PageCache, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was asked for longest ago goes first."""
    monkeypatch.setattr(module, "MAX_BYTES", 3 * module.OVERHEAD + 30)
    sources = [Source() for _ in range(4)]
    for key, source in enumerate(sources):
        await cache.page(key, source.draft, AGE)
    for key, source in reversed(list(enumerate(sources))):
        await cache.page(key, source.draft, AGE)
        assert source.looks == (1 if key else 2), key


async def test_crowd_is_refused(cache: PageCache, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more pages wait to be written than may."""
    monkeypatch.setattr(module, "MAX_WAITING", 2)
    gate = threading.Event()

    def write() -> str:
        gate.wait(10)
        return "late"

    writing = [asyncio.create_task(cache.write(LazyPage((), write))) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(Refusal, match="more pages are asked for"):
        await cache.write(LazyPage((), write))
    gate.set()
    assert [page.body for page in await asyncio.gather(*writing)] == [b"late", b"late"]


async def test_one_host_holds_no_other_up(cache: PageCache) -> None:
    """All that an address sends has one thread: that of others is done meanwhile."""
    gate = threading.Event()
    held = [asyncio.create_task(cache.in_turn("10.0.0.1", gate.wait)) for _ in range(9)]
    await asyncio.sleep(0)
    async with asyncio.timeout(10):
        assert await cache.in_turn("10.0.0.2", lambda: "done") == "done"
    gate.set()
    assert all(await asyncio.gather(*held))


async def test_long_text_is_compressed(cache: PageCache) -> None:
    """For those who take it; what it says can be had either way."""
    page = await cache.write(LazyPage((), lambda: "all " * 1000))
    assert page.is_compressed
    assert len(page.body) < 100
    for accepted, is_sent in (("gzip", True), ("identity", False)):
        headers = [(b"accept-encoding", accepted.encode())]
        response = page.response(Request({"type": "http", "method": "GET", "headers": headers}))
        assert ("content-encoding" in response.headers) is is_sent
        body = bytes(response.body)
        assert (gzip.decompress(body) if is_sent else body) == b"all " * 1000
    picture = await cache.write(LazyPage((), lambda: b"0" * 1000, "image/png"))
    assert not picture.is_compressed

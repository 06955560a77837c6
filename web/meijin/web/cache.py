"""The page cache: pages as they were sent, by their addresses and what they show.

A page that is asked for is looked up again after a moment, once for all who ask for it meanwhile;
if the messages that it shows are still the same it is neither rendered nor compressed again.
"""

import asyncio
import gzip
import hashlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta
from http import HTTPStatus
from math import inf
from typing import TypeVar
from weakref import WeakValueDictionary

from google.protobuf.message import Message
from starlette.requests import Request
from starlette.responses import Response

from meijin.web.refusals import Refusal

HTML = "text/html; charset=utf-8"

MAX_BYTES = 64 * 1024 * 1024
"""Of all pages that are kept, compressed; those that were asked for longest ago go first."""

WRITERS = 2
"""Threads that write pages."""

MAX_WAITING = 100
"""Pages that may wait to be written before more are refused."""

OVERHEAD = 4096
"""Bytes that count for a page beside its body: its address, and what holds it."""

COMPRESSED_FROM = 600
"""Bytes of a page that is compressed; a shorter one fits into a packet as it is."""

COMPRESSION_LEVEL = 4
"""Of a ladder of 1,000 bots it leaves 5 % more than level 6, in half of the time."""

TEXTS = ("text/", "application/json", "application/atom", "application/xml", "image/svg")
"""How media types begin that are worth compressing."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class LazyPage:
    """A page to be written: what it shows, and how."""

    shown: tuple[Message | str, ...]
    """All that it is a function of, beside its address: the same, and it is not written again."""
    write: Callable[[], str | bytes]
    """Writes it, in a thread."""
    media_type: str = HTML
    filename: str = ""
    """What a browser keeps it as; empty for a page to look at."""
    status: HTTPStatus = HTTPStatus.OK


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page as it is sent."""

    body: bytes
    is_compressed: bool
    """By gzip."""
    media_type: str
    filename: str
    digest: bytes
    """Of the messages that it shows."""
    etag: str
    made: float
    """When it was looked up last, by a monotonic clock; seconds."""

    status: HTTPStatus

    @property
    def size(self) -> int:
        """Bytes that it takes while it is kept."""
        return len(self.body) + OVERHEAD

    def response(
        self, request: Request, *, control: str = "no-cache", identity: str = "cookie"
    ) -> Response:
        """The page as it is sent, or that it is still what the client has.

        Args:
            control: What caches may do with it.
            identity: The header by which clients say who they are.
        """
        vary = f"accept-encoding, {identity}"
        headers = {"etag": self.etag, "cache-control": control, "vary": vary}
        is_look = request.method in {"GET", "HEAD"}
        if is_look and self.etag in request.headers.get("if-none-match", ""):
            return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
        if self.filename:
            headers["content-disposition"] = f'attachment; filename="{self.filename}"'
        body = self.body
        if self.is_compressed and "gzip" in request.headers.get("accept-encoding", ""):
            headers["content-encoding"] = "gzip"
        elif self.is_compressed:
            body = gzip.decompress(body)
        return Response(body, self.status, headers, self.media_type)


class PageCache:
    """Pages by their addresses, and the threads that write them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._pages: OrderedDict[Hashable, StoredPage] = OrderedDict()
        self._bytes = 0
        self._making: dict[Hashable, asyncio.Task[StoredPage]] = {}
        self._writers = ThreadPoolExecutor(WRITERS, thread_name_prefix="pages")
        self._waiting = 0
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def page(
        self, key: Hashable, look_up: Callable[[], Awaitable[LazyPage]], max_age: timedelta
    ) -> StoredPage:
        """A page as it was at most `max_age` ago.

        Raises:
            Refusal: too many pages wait to be written.
            AioRpcError: a call that it needs has failed.
        """
        kept = self._pages.get(key)
        if kept is not None and self._clock() - kept.made < max_age.total_seconds():
            self._pages.move_to_end(key)
            return kept
        task = self._making.get(key)
        if task is None:
            task = asyncio.create_task(self._make(key, look_up, kept))
            self._making[key] = task
            task.add_done_callback(lambda _: self._making.pop(key))
        return await asyncio.shield(task)

    def expire(self, key: Hashable) -> None:
        """Have a page looked up again at once: what it shows was changed by who goes on to it."""
        if key in self._pages:
            self._pages[key] = replace(self._pages[key], made=-inf)

    async def write(self, page: LazyPage) -> StoredPage:
        """A page that nobody else is to see, written and not kept.

        Raises:
            Refusal: too many pages wait to be written.
        """
        return await self.in_thread(lambda: _written(page, None, self._clock()))

    async def in_thread(self, work: Callable[[], Result]) -> Result:
        """Do what takes longer than the event loop may stand still.

        Raises:
            Refusal: too many wait for that.
        """
        if self._waiting >= MAX_WAITING:
            message = "more pages are asked for than can be written; try again in a moment"
            raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, message, retry_after=timedelta(seconds=2))
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._writers, work)
        finally:
            self._waiting -= 1

    async def in_turn(self, host: str, work: Callable[[], Result]) -> Result:
        """The same, one work of a host after another: so much of it holds nobody else up.

        Raises:
            Refusal: too many wait for that.
        """
        async with self._turns.setdefault(host, asyncio.Lock()):
            return await self.in_thread(work)

    def close(self) -> None:
        self._writers.shutdown(wait=False, cancel_futures=True)

    async def _make(
        self, key: Hashable, look_up: Callable[[], Awaitable[LazyPage]], kept: StoredPage | None
    ) -> StoredPage:
        now, found = self._clock(), await look_up()
        page = await self.in_thread(lambda: _written(found, kept, now))
        self._keep(key, page)
        return page

    def _keep(self, key: Hashable, page: StoredPage) -> None:
        old = self._pages.pop(key, None)
        self._bytes += page.size - (old.size if old else 0)
        self._pages[key] = page
        while self._bytes > MAX_BYTES:
            _, dropped = self._pages.popitem(last=False)
            self._bytes -= dropped.size


def _written(page: LazyPage, kept: StoredPage | None, now: float) -> StoredPage:
    """A page that is written: the one that was kept, where it shows the same."""
    digest = _digest(page)
    if kept is not None and kept.digest == digest:
        return replace(kept, made=now)
    text, media_type = page.write(), page.media_type
    body = text.encode() if isinstance(text, str) else text
    etag = f'"{hashlib.sha256(body).hexdigest()[:20]}"'
    is_compressed = len(body) >= COMPRESSED_FROM and media_type.startswith(TEXTS)
    if is_compressed:
        body = gzip.compress(body, COMPRESSION_LEVEL, mtime=0)
    return StoredPage(
        body, is_compressed, media_type, page.filename, digest, etag, now, page.status
    )


def _digest(page: LazyPage) -> bytes:
    digest = hashlib.sha256()
    for each in page.shown:
        if isinstance(each, str):
            encoded = each.encode()
        else:
            encoded = each.SerializeToString(deterministic=True)
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.digest()

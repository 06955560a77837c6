"""Answers that go on: what streams of events and of lines have in common.

By plain ASGI, which costs a watcher a third of what a response class does.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Iterator
from datetime import timedelta
from http import HTTPStatus

from starlette.types import Receive, Scope, Send

from meijin.web.refusals import Refusal

TRANSPORT = "meijin.transport"
"""The extension of ASGI by which an answer reaches its connection."""

Headers = Iterable[tuple[bytes, bytes]]

EVENT_STREAM: Headers = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
)
"""Headers of server-sent events; the last one has nginx pass every one of them on at once."""


def transport_of(scope: Scope) -> asyncio.Transport | None:
    """The transport of a request's connection, where there is one."""
    extension = scope.get("extensions", {}).get(TRANSPORT, {})
    transport: asyncio.Transport | None = extension.get("transport")
    return transport


async def until_left(receive: Receive) -> None:
    """Wait until the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


class OpenStreams:
    """The streams of a kind that are open.

    Args:
        most: At once, of everybody.
        of_host: At once, of one address.
    """

    def __init__(self, most: int, *, of_host: int) -> None:
        self._most = most
        self._most_of_host = of_host
        self._of_hosts: Counter[str] = Counter()

    @contextlib.contextmanager
    def hold(self, host: str) -> Iterator[None]:
        """Have a place for a stream.

        Raises:
            Refusal: there are too many.
        """
        if self._of_hosts[host] >= self._most_of_host or self._of_hosts.total() >= self._most:
            message = f"too many streams are open; an address may have {self._most_of_host}"
            wait = timedelta(seconds=10)
            raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, message, retry_after=wait)
        self._of_hosts[host] += 1
        try:
            yield
        finally:
            self._of_hosts[host] -= 1
            if not self._of_hosts[host]:
                del self._of_hosts[host]


class PartedAnswer:
    """An answer that is sent in parts as they come."""

    def __init__(
        self, parts: AsyncGenerator[bytes], headers: Headers, closing: asyncio.Event
    ) -> None:
        """`closing` is set when the site stops."""
        self._parts = parts
        self._headers = headers
        self._closing = closing
        self._has_begun = False

    async def send(
        self,
        receive: Receive,
        send: Send,
        transport: asyncio.Transport | None,
        limit: timedelta,
    ) -> None:
        """Send the parts, until they end, the client leaves or the site stops.

        Args:
            transport: That of the connection, where there is one.
            limit: How long a part may wait for a client that does not read, which is cut off.

        Raises:
            AioRpcError: there is no first part.
        """
        sending = asyncio.create_task(self._send(send, limit))
        leaving = asyncio.create_task(until_left(receive))
        closing = asyncio.create_task(self._closing.wait())
        try:
            await asyncio.wait((sending, leaving, closing), return_when=asyncio.FIRST_COMPLETED)
            has_left = leaving.done()
        finally:
            for task in (sending, leaving, closing):
                task.cancel()  # one that is done stays as it is
        try:
            with contextlib.suppress(asyncio.CancelledError):
                await sending
            if self._has_begun and not has_left:
                await _write(limit, send, b"", more=False)
        except TimeoutError:  # it reads nothing: what waits for it is not worth its memory
            if transport is not None:
                transport.abort()

    async def _send(self, send: Send, limit: timedelta) -> None:
        async with contextlib.aclosing(self._parts) as parts:
            async for part in parts:
                await self._begin(send)
                await _write(limit, send, part)
        await self._begin(send)

    async def _begin(self, send: Send) -> None:
        if not self._has_begun:
            self._has_begun = True
            headers = list(self._headers)
            await send({"type": "http.response.start", "status": 200, "headers": headers})


async def _write(limit: timedelta, send: Send, body: bytes, *, more: bool = True) -> None:
    async with asyncio.timeout(limit.total_seconds()):
        await send({"type": "http.response.body", "body": body, "more_body": more})

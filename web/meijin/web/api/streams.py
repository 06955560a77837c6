"""Streams: methods that answer with many messages, each a line of JSON."""

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http import HTTPStatus
from typing import Any

import grpc
from google.protobuf.message import Message
from grpc.aio import AioRpcError
from starlette.types import Receive, Send

from meijin.web.api.answers import error_value, text_of
from meijin.web.cache import PageCache
from meijin.web.refusals import Refusal
from meijin.web.streaming import until_left, write_within

MEDIA_TYPE = "application/x-ndjson"

MAX_STREAMS = 300
"""At once, of everybody."""

MAX_STREAMS_OF_HOST = 30
"""At once, of one address."""

WRITE_TIMEOUT = timedelta(seconds=30)
"""How long a line may wait for a client that does not read."""


class Places:
    """The streams that are open."""

    def __init__(self) -> None:
        self._of_hosts: Counter[str] = Counter()

    @contextmanager
    def hold(self, host: str) -> Iterator[None]:
        """Have a place for a stream.

        Raises:
            Refusal: there are too many.
        """
        if self._of_hosts[host] >= MAX_STREAMS_OF_HOST or self._of_hosts.total() >= MAX_STREAMS:
            message = f"too many streams are open; an address may have {MAX_STREAMS_OF_HOST}"
            wait = timedelta(seconds=10)
            raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, message, retry_after=wait)
        self._of_hosts[host] += 1
        try:
            yield
        finally:
            self._of_hosts[host] -= 1
            if not self._of_hosts[host]:
                del self._of_hosts[host]


class Lines:
    """A call's messages on their way to a client, until either ends."""

    def __init__(self, call: Any, cache: PageCache, closing: asyncio.Event) -> None:  # noqa: ANN401 - gRPC's call, or a local one
        self._call = call
        self._cache = cache
        self._closing = closing
        self._has_begun = False

    async def send(
        self,
        receive: Receive,
        send: Send,
        headers: list[tuple[bytes, bytes]],
        transport: asyncio.Transport | None,
    ) -> None:
        """Send the messages, as they come.

        Args:
            transport: That of the connection, where there is one.

        Raises:
            AioRpcError: the call was refused before its first message.
        """
        sending = asyncio.create_task(self._send(send, headers))
        leaving = asyncio.create_task(until_left(receive))
        closing = asyncio.create_task(self._closing.wait())
        try:
            await asyncio.wait((sending, leaving, closing), return_when=asyncio.FIRST_COMPLETED)
            has_left = leaving.done()
        finally:
            self._call.cancel()
            for task in (sending, leaving, closing):
                task.cancel()  # one that is done stays as it is
        try:
            with contextlib.suppress(asyncio.CancelledError):
                await sending
            if self._has_begun and not has_left:
                await write_within(WRITE_TIMEOUT, send, b"", more=False)
        except TimeoutError:  # it reads nothing: what waits for it is not worth its memory
            if transport is not None:
                transport.abort()

    async def _send(self, send: Send, headers: list[tuple[bytes, bytes]]) -> None:
        message = await self._call.read()
        start = {"type": "http.response.start", "status": 200, "headers": headers}
        await send(start)
        self._has_begun = True
        try:
            while message is not grpc.aio.EOF:
                await write_within(WRITE_TIMEOUT, send, await self._line(message))
                message = await self._call.read()
        except (AioRpcError, Refusal) as error:
            last = json.dumps({"error": error_value(error)}) + "\n"
            await write_within(WRITE_TIMEOUT, send, last.encode())

    async def _line(self, message: Message) -> bytes:
        text = await self._cache.in_thread(lambda: text_of(message))
        return text.encode() + b"\n"

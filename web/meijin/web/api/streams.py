"""Streams: methods that answer with many messages, each a line of JSON."""

import json
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from typing import Any

import grpc
from grpc.aio import AioRpcError

from meijin.web.api.answers import error_value
from meijin.web.cache import PageCache
from meijin.web.refusals import Refusal
from meijin.wire.json import json_text

MAX_STREAMS = 300
"""At once, of everybody."""

MAX_STREAMS_OF_HOST = 30
"""At once, of one address."""

WRITE_TIMEOUT = timedelta(seconds=30)
"""How long a line may wait for a client that does not read."""


class OpenStreams:
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


async def lines_of(call: Any, cache: PageCache) -> AsyncGenerator[bytes]:  # noqa: ANN401 - gRPC's call, or a local one
    """A call's messages, a line each, and what it failed by after the first.

    Raises:
        AioRpcError: the call was refused before its first message.
    """
    has_begun = False
    try:
        while (message := await call.read()) is not grpc.aio.EOF:
            line = await cache.in_thread(partial(json_text, message))
            has_begun = True
            yield line.encode() + b"\n"
    except (AioRpcError, Refusal) as error:
        if not has_begun:
            raise
        yield (json.dumps({"error": error_value(error)}) + "\n").encode()
    finally:
        call.cancel()

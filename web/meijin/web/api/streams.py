"""Streams: methods that answer with many messages, each a line of JSON."""

import json
from collections.abc import AsyncGenerator
from datetime import timedelta
from functools import partial
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

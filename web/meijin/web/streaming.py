"""Answers that go on: what streams of events and of lines have in common."""

import asyncio
from datetime import timedelta

from starlette.types import Receive, Scope, Send

TRANSPORT = "meijin.transport"
"""The extension of ASGI by which an answer reaches its connection."""

EVENT_STREAM = (
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


async def write_within(limit: timedelta, send: Send, body: bytes, *, more: bool = True) -> None:
    """Write a part of an answer.

    Raises:
        TimeoutError: the client has not read what came before it in time.
    """
    async with asyncio.timeout(limit.total_seconds()):
        await send({"type": "http.response.body", "body": body, "more_body": more})

"""A browser that listens to a stream of events, without a network."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from tests.peer import WAIT_TIMEOUT
from tests.web.browsing import HOST, scope_of

from meijin.web.live.watcher import BEAT
from meijin.web.streaming import TRANSPORT


@dataclass(slots=True)
class Stream:
    """An answer that goes on, as far as it was read."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    frames: asyncio.Queue[bytes] = field(default_factory=asyncio.Queue)
    reads: asyncio.Event = field(default_factory=asyncio.Event)
    """Cleared while the browser reads nothing."""
    has_left: asyncio.Event = field(default_factory=asyncio.Event)
    cuts: int = 0
    """How often the server has cut the connection."""

    def get_write_buffer_size(self) -> int:
        """How much waits to be sent: always something, so that the answer's task writes."""
        return 1

    def abort(self) -> None:
        self.cuts += 1
        self.has_left.set()
        self.reads.set()

    async def send(self, message: Any) -> None:
        """Take what the server writes, as long as the browser reads."""
        await self.reads.wait()
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {
                name.decode(): value.decode("latin-1") for name, value in message["headers"]
            }
        elif message["body"]:
            self.frames.put_nowait(message["body"])

    async def receive(self) -> dict[str, Any]:
        await self.has_left.wait()
        return {"type": "http.disconnect"}

    async def frame(self) -> bytes:
        async with asyncio.timeout(WAIT_TIMEOUT.total_seconds()):
            return await self.frames.get()

    async def event(self) -> tuple[str, Any]:
        """The next event: its kind and content; signs of life are passed over."""
        while (frame := await self.frame()) == BEAT:
            pass
        lines = frame.decode().splitlines()
        told = dict(line.split(": ", 1) for line in lines if line)
        return told["event"], json.loads(told["data"])

    async def until(self, kind: str) -> Any:
        while True:
            found, content = await self.event()
            if found == kind:
                return content


@asynccontextmanager
async def listening(app: Starlette, topics: str, *, cookie: str = "") -> AsyncIterator[Stream]:
    """Listen to topics as long as the context lasts."""
    stream = Stream()
    stream.reads.set()
    scope = scope_of("GET", f"/events?topics={topics}", HOST, {"cookie": cookie})
    scope["extensions"] = {TRANSPORT: {"transport": stream}}
    answering = asyncio.create_task(app(scope, stream.receive, stream.send))
    try:
        yield stream
    finally:
        stream.has_left.set()
        stream.reads.set()
        async with asyncio.timeout(WAIT_TIMEOUT.total_seconds()):
            await answering

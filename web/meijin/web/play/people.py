"""The streams of all people who play by these pages."""

import asyncio
import hashlib
from datetime import timedelta
from http import HTTPStatus

from meijin.web.gateway import Gateway, Services, Visitor
from meijin.web.play.stream import PersonStream
from meijin.web.refusals import Refusal
from meijin.web.wording import text

MAX_PEOPLE = 300
"""People who play at once by one process of pages."""

MAX_WAITING_OF_HOST = 100
"""Of one address that the server has not let in yet: any cookie makes one."""

LOOK_INTERVAL = timedelta(seconds=15)
"""Between two looks for streams and places that no browser asks for."""


class PeopleStreams:
    """A stream for each person, by its token."""

    def __init__(self, gateway: Gateway, closing: asyncio.Event) -> None:
        self._gateway = gateway
        self._closing = closing
        self._streams: dict[str, PersonStream] = {}
        self._clearing: asyncio.Task[None] | None = None

    async def stream(self, visitor: Visitor) -> PersonStream:
        """The stream of a person, opened now unless it has one.

        Raises:
            Refusal: there are too many, or the server does not let the person in.
        """
        key = hashlib.sha256(visitor.token.encode()).hexdigest()
        stream = self._streams.get(key)
        if stream is None or stream.is_over:
            stream = self._take(key, visitor)
        try:
            await stream.ready()
        except Refusal:
            if not stream.name:
                self._drop(key, stream)
            raise
        return stream

    def _take(self, key: str, visitor: Visitor) -> PersonStream:
        is_full = len(self._streams) >= MAX_PEOPLE and key not in self._streams
        waiting = [each.host for each in self._streams.values() if not each.name]
        if is_full or waiting.count(visitor.host) >= MAX_WAITING_OF_HOST:
            message = text("play.no_seat")
            raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, message, retry_after=timedelta(minutes=1))
        stream = PersonStream(Services(self._gateway.channel(visitor)), visitor.host)
        self._streams[key] = stream
        if self._clearing is None or self._clearing.done():
            self._clearing = asyncio.create_task(self._clear())
        return stream

    async def _clear(self) -> None:
        """Give up the streams that no browser asks for, until there are none, or the site stops."""
        while self._streams and not self._closing.is_set():
            try:
                async with asyncio.timeout(LOOK_INTERVAL.total_seconds()):
                    await self._closing.wait()
            except TimeoutError:
                pass
            for key, stream in list(self._streams.items()):
                await stream.give_up_places()
                if stream.is_deserted or stream.is_over or self._closing.is_set():
                    self._drop(key, stream)

    def _drop(self, key: str, stream: PersonStream) -> None:
        """Give a stream up, which another may have replaced."""
        stream.close()
        if self._streams.get(key) is stream:
            del self._streams[key]

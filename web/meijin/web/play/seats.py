"""The seats of all people who play by these pages."""

import asyncio
import hashlib
from datetime import timedelta
from http import HTTPStatus

from meijin.web.gateway import Gateway, Services, Visitor
from meijin.web.play.seat import Seat
from meijin.web.refusals import Refusal
from meijin.web.wording import text

MAX_SEATS = 300
"""People who play at once by one process of pages."""

LOOK_INTERVAL = timedelta(seconds=15)
"""Between two looks for seats that nobody sits in."""


class Seats:
    """A seat for each person, by its token."""

    def __init__(self, gateway: Gateway, closing: asyncio.Event) -> None:
        self._gateway = gateway
        self._closing = closing
        self._seats: dict[str, Seat] = {}
        self._clearing: asyncio.Task[None] | None = None

    async def seat(self, visitor: Visitor) -> Seat:
        """The seat of a person, taken now unless it has it.

        Raises:
            Refusal: there is none left, or the server does not let the person in.
        """
        key = hashlib.sha256(visitor.token.encode()).hexdigest()
        seat = self._seats.get(key)
        if seat is None or seat.is_over:
            seat = self._take(key, visitor)
        await seat.ready()
        return seat

    def _take(self, key: str, visitor: Visitor) -> Seat:
        if len(self._seats) >= MAX_SEATS and key not in self._seats:
            message = text("play.no_seat")
            raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, message, retry_after=timedelta(minutes=1))
        seat = Seat(Services(self._gateway.channel(visitor)))
        self._seats[key] = seat
        if self._clearing is None or self._clearing.done():
            self._clearing = asyncio.create_task(self._clear())
        return seat

    async def _clear(self) -> None:
        """Give up the seats that nobody sits in, until there are none, or the site stops."""
        while self._seats and not self._closing.is_set():
            try:
                async with asyncio.timeout(LOOK_INTERVAL.total_seconds()):
                    await self._closing.wait()
            except TimeoutError:
                pass
            for key, seat in list(self._seats.items()):
                if seat.is_deserted or seat.is_over or self._closing.is_set():
                    seat.close()
                    del self._seats[key]

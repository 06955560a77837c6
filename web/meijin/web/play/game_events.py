"""What a game's page is told of as it happens: its newest state, whenever that has changed."""

import asyncio
import json
from datetime import timedelta
from http import HTTPStatus
from typing import Any

from starlette.types import Receive, Send

from meijin.web.play.seat import Seat
from meijin.web.play.seated_game import SeatedGame
from meijin.web.play.state import state_of
from meijin.web.refusals import Refusal
from meijin.web.streaming import EVENT_STREAM, until_left, write_within
from meijin.web.wording import text

MAX_WATCHERS = 6
"""Pages of one person that follow games at once."""

KEEP_ALIVE = timedelta(seconds=15)
"""After so long without a change the browser is told that the stream is alive."""

WRITE_TIMEOUT = timedelta(seconds=20)
"""How long a browser may take to read a state before its stream is ended."""


async def tell_states(
    seat: Seat,
    game_id: str,
    closing: asyncio.Event,
    receive: Receive,
    send: Send,
    *,
    transport: asyncio.Transport | None,
) -> None:
    """Tell a browser of one game until it leaves, or the site stops.

    One that reads nothing is cut off.

    Args:
        transport: That of its connection, where there is one.

    Raises:
        Refusal: too many pages of the person follow games.
    """
    if seat.watchers >= MAX_WATCHERS:
        raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, text("play.too_many_pages"))
    seat.game(game_id)
    seat.watchers += 1
    leaving = asyncio.ensure_future(until_left(receive))
    stopping = asyncio.ensure_future(closing.wait())
    try:
        await send({"type": "http.response.start", "status": 200, "headers": list(EVENT_STREAM)})
        await _tell(seat, game_id, send, leaving, stopping)
    except TimeoutError:  # what waits for it is not worth its memory
        if transport is not None:
            transport.abort()
    finally:
        seat.watchers -= 1
        for task in (leaving, stopping):
            task.cancel()


async def _tell(
    seat: Seat,
    game_id: str,
    send: Send,
    leaving: "asyncio.Future[None]",
    stopping: "asyncio.Future[Any]",
) -> None:
    told: tuple[int, int] | None = None
    while not (leaving.done() or stopping.done() or seat.is_over):
        game = seat.games.get(game_id)
        if game is None:
            break
        changing = asyncio.ensure_future(seat.change())
        try:
            mark = (id(game), game.version)
            if mark != told:
                told = mark
                await write_within(WRITE_TIMEOUT, send, _frame(game))
            done, _ = await asyncio.wait(
                (changing, leaving, stopping),
                timeout=KEEP_ALIVE.total_seconds(),
                return_when=asyncio.FIRST_COMPLETED,
            )
            if not done:
                await write_within(WRITE_TIMEOUT, send, b": here\n\n")
        finally:
            changing.cancel()
    await write_within(WRITE_TIMEOUT, send, b"", more=False)


def _frame(game: SeatedGame) -> bytes:
    return b"data: " + json.dumps(state_of(game).as_json()).encode() + b"\n\n"

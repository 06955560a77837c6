"""What a person's pages are told of as it happens: a game's newest state, a place in a queue."""

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import asdict
from datetime import timedelta
from http import HTTPStatus

from starlette.types import Receive, Send

from meijin.web.play.state import state_of
from meijin.web.play.stream import PersonStream
from meijin.web.refusals import Refusal
from meijin.web.streaming import EVENT_STREAM, PartedAnswer
from meijin.web.wording import text

MAX_WATCHERS = 6
"""Pages of one person that follow something at once."""

KEEP_ALIVE = timedelta(seconds=15)
"""After so long without a change the browser is told that the stream is alive."""

WRITE_TIMEOUT = timedelta(seconds=20)
"""How long a browser may take to read a state before its stream is ended."""


async def tell_states(
    stream: PersonStream,
    game_id: str,
    closing: asyncio.Event,
    receive: Receive,
    send: Send,
    *,
    transport: asyncio.Transport | None,
) -> None:
    """Tell a browser of one game.

    Raises:
        Refusal: it is none of the person's, or too many of its pages follow something.
    """
    stream.game(game_id)
    states = _states(stream, game_id)
    await tell(stream, states, closing, receive, send, transport=transport)


async def tell(
    stream: PersonStream,
    events: AsyncGenerator[bytes],
    closing: asyncio.Event,
    receive: Receive,
    send: Send,
    *,
    transport: asyncio.Transport | None,
) -> None:
    """Tell a person's browser of events until they end, it leaves, or the site stops.

    Args:
        transport: That of its connection, where there is one.

    Raises:
        Refusal: too many pages of the person follow something.
    """
    if stream.watchers >= MAX_WATCHERS:
        raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, text("play.too_many_pages"))
    stream.watchers += 1
    try:
        answer = PartedAnswer(events, EVENT_STREAM, closing)
        await answer.send(receive, send, transport, WRITE_TIMEOUT)
    finally:
        stream.watchers -= 1


async def _states(stream: PersonStream, game_id: str) -> AsyncGenerator[bytes]:
    told: tuple[int, int] | None = None
    while not stream.is_over and (game := stream.games.get(game_id)) is not None:
        changing = asyncio.ensure_future(stream.change())
        try:
            mark = (id(game), game.version)
            if mark != told:
                told = mark
                yield b"data: " + json.dumps(asdict(state_of(game))).encode() + b"\n\n"
            done, _ = await asyncio.wait((changing,), timeout=KEEP_ALIVE.total_seconds())
            if not done:
                yield b": here\n\n"
        finally:
            changing.cancel()

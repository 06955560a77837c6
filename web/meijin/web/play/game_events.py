"""What a game's page is told of as it happens: its newest state, whenever that has changed."""

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
"""Pages of one person that follow games at once."""

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
    """Tell a browser of one game until it leaves, or the site stops.

    Args:
        transport: That of its connection, where there is one.

    Raises:
        Refusal: too many pages of the person follow games.
    """
    if stream.watchers >= MAX_WATCHERS:
        raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, text("play.too_many_pages"))
    stream.game(game_id)
    stream.watchers += 1
    try:
        answer = PartedAnswer(_states(stream, game_id), EVENT_STREAM, closing)
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

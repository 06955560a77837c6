"""All games of a tournament as one file, sent as it is read."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from datetime import timedelta
from http import HTTPStatus

from starlette.responses import StreamingResponse
from starlette.types import Message, Send

from meijin.game.records.file import FileFormat, write_game
from meijin.v1 import game_pb2
from meijin.v1 import game_service_pb2 as pb
from meijin.web.gateway import Services
from meijin.web.refusals import Refusal
from meijin.web.wording import text
from meijin.wire.records import record_from_proto

MOST_AT_ONCE = 2
"""Files that are sent at once, by all visitors together."""

PAGE = 100
"""Games that are read at once."""

PATIENCE = timedelta(seconds=60)
"""How long a browser may take for what was read at once."""


KINDS = {
    "sgf": (FileFormat.SGF, "application/x-go-sgf; charset=utf-8"),
    "jsonl": (FileFormat.JSON, "application/jsonl; charset=utf-8"),
}
"""Formats that hold many games and their media types, by the endings of files' names."""

_turns = asyncio.Semaphore(MOST_AT_ONCE)


class GameFile(StreamingResponse):
    """A file of games; a reader that stops is left, and its turn goes to others."""

    async def stream_response(self, send: Send) -> None:
        """Send it, each part in its time."""

        async def in_time(message: Message) -> None:
            async with asyncio.timeout(PATIENCE.total_seconds()):
                await send(message)

        async with _turns:
            with suppress(TimeoutError):  # the connection is closed on an answer without an end
                await super().stream_response(in_time)


def game_file(
    services: Services, tournament_id: str, ending: str, closing: asyncio.Event
) -> GameFile:
    """The finished games of a tournament, the newest first.

    Raises:
        Refusal: as many files as may be are being sent.
    """
    if _turns.locked():
        message = text("tournament.files_busy")
        raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, message, retry_after=timedelta(seconds=30))
    form, media_type = KINDS[ending]
    name = f"tournament-{tournament_id}.{ending}"
    return GameFile(
        _parts(services, tournament_id, form, closing),
        media_type=media_type,
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )


async def _parts(
    services: Services, tournament_id: str, form: FileFormat, closing: asyncio.Event
) -> AsyncIterator[bytes]:
    request = pb.ListGamesRequest(
        tournament_id=tournament_id,
        state=game_pb2.GAME_STATE_FINISHED,
        page_size=PAGE,
        with_moves=True,
    )
    while not closing.is_set():
        page = await services.games.ListGames(request)
        begun = time.monotonic()
        part = await asyncio.to_thread(_written, page.games, form)
        worked = time.monotonic() - begun
        yield part
        if not page.next_page_token:
            return
        request.page_token = page.next_page_token
        await asyncio.sleep(worked)  # half of a core at most: games are arbitrated beside it


def _written(games: Sequence[game_pb2.Game], form: FileFormat) -> bytes:
    written = (write_game(record_from_proto(game), form).rstrip("\n") for game in games)
    return "".join(f"{each}\n" for each in written).encode()

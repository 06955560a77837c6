"""A game as a file: a record in any format, a page that replays it, or a picture at a ply."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from meijin.game import Board
from meijin.game.board.svg import board_svg
from meijin.v1 import game_service_pb2
from meijin.web.drafts import HTML, Draft
from meijin.web.pages.game import asked_game, asked_ply, is_held_back
from meijin.web.pictures.game_image import card_png, square_png
from meijin.web.refusals import bad_request, not_found
from meijin.web.replay.replay_page import replay_page
from meijin.web.routes import Page
from meijin.web.visit import Visit
from meijin.web.wording import text
from meijin.wire import record_from_proto

FORMATS = {
    "sgf": game_service_pb2.RECORD_FORMAT_SGF,
    "psq": game_service_pb2.RECORD_FORMAT_PSQ,
    "txt": game_service_pb2.RECORD_FORMAT_POSITION,
    "json": game_service_pb2.RECORD_FORMAT_JSON,
}
"""Of records, by the ending of the address."""

MEDIA_TYPES = {
    "sgf": "application/x-go-sgf",
    "psq": "text/plain; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
    "json": "application/json",
}

PICTURES = {"square": square_png, "card": card_png}
"""By the shape that is asked for."""


async def file(visit: Visit) -> Draft:
    """Give a game as a file of the kind that its address ends with."""
    suffix = visit.place("suffix")
    if suffix in FORMATS:
        return await record(visit, suffix)
    if suffix not in KINDS:
        endings = ", ".join((*FORMATS, *KINDS))
        raise not_found(f'no game as ".{suffix}"; there are {endings}')
    return await KINDS[suffix](visit)


async def record(visit: Visit, suffix: str) -> Draft:
    """Give a game's record.

    Raises:
        Refusal: it is being played, and boards are delayed.
    """
    if visit.shell.settings.delay and is_held_back(visit, await asked_game(visit)):
        raise bad_request(text("game.files.held_back"))
    key = visit.place("game_id")
    request = game_service_pb2.ExportGameRequest(game_id=key, format=FORMATS[suffix])
    found = await visit.services.games.ExportGame(request)
    return Draft((found,), lambda: found.text, MEDIA_TYPES[suffix], _name(visit))


async def replay(visit: Visit) -> Draft:
    """Give a page that replays a game by itself, to be kept."""
    game = await asked_game(visit)
    return Draft((game,), lambda: replay_page(record_from_proto(game)), HTML, _name(visit))


async def svg(visit: Visit) -> Draft:
    """Draw a game's board at a ply."""
    ply, game = asked_ply(visit), await asked_game(visit)

    def write() -> str:
        record = record_from_proto(game)
        moves = record.moves if ply is None else record.moves[:ply]
        return board_svg(Board.from_moves(moves, record.variant))

    return Draft((game,), write, "image/svg+xml")


async def png(visit: Visit) -> Draft:
    """Draw a game's board at a ply in pixels, alone or with its players."""
    ply, shape = asked_ply(visit), visit.text("shape", "square")
    if shape not in PICTURES:
        raise bad_request(f'no picture of the shape "{shape}"; write square or card')
    game = await asked_game(visit)

    def write() -> bytes:
        shown = len(game.moves) if ply is None else ply
        return PICTURES[shape](record_from_proto(game), shown)

    return Draft((game,), write, "image/png")


def _name(visit: Visit) -> str:
    """What a browser keeps the file as; the server has found the game, so its id is a number."""
    return f"game-{visit.place('game_id')}.{visit.place('suffix')}"


KINDS: Mapping[str, Callable[[Visit], Awaitable[Draft]]] = {
    "html": replay,
    "svg": svg,
    "png": png,
}
"""What is made here, by the ending of the address."""

ROUTES = (Page("/games/{game_id}.{suffix}", file),)

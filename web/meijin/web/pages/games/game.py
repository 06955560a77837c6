"""One game: its page, a frame of it for the pages of others, and its files."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from meijin.game import GameRecord
from meijin.game.rules.variant import MAX_SIDE
from meijin.v1 import fault_service_pb2, game_pb2, game_service_pb2
from meijin.web.cache import HTML, LazyPage
from meijin.web.labels import result_label
from meijin.web.pages.games.phases import phases
from meijin.web.pages.games.view import GamePage, drawn
from meijin.web.pictures.game_image import card_png, square_png
from meijin.web.refusals import bad_request, not_found
from meijin.web.replay.replay_page import replay_page
from meijin.web.request import Page, PageRequest
from meijin.web.wording import text
from meijin.wire.records import record_from_proto

MOST_PLIES = MAX_SIDE * MAX_SIDE
"""Stones on the largest board."""

MOST_FAULTS = 10
"""Entries of the fault ledger that are shown with a game."""

RECORDS = {
    "sgf": (game_service_pb2.RECORD_FORMAT_SGF, "application/x-go-sgf"),
    "psq": (game_service_pb2.RECORD_FORMAT_PSQ, "text/plain; charset=utf-8"),
    "txt": (game_service_pb2.RECORD_FORMAT_POSITION, "text/plain; charset=utf-8"),
    "json": (game_service_pb2.RECORD_FORMAT_JSON, "application/json"),
}
"""Formats of records and their media types, by the ending of the address."""

SHAPES = ("square", "card")
"""Of pictures in pixels."""


async def show(request: PageRequest) -> LazyPage:
    """Show a game at a ply, with all that is known of it."""
    ply, key = asked_ply(request), request.path["game_id"]
    services = request.services
    game, faults, chances = await asyncio.gather(
        asked_game(request),
        services.faults.ListFaults(
            fault_service_pb2.ListFaultsRequest(game_id=key, page_size=MOST_FAULTS)
        ),
        asked_chances(request),
    )
    return request.page(
        "game.html",
        game=game,
        faults=faults.faults,
        chances=chances,
        ratings=await request.ratings([game]),
        ply=ply,
        view=GamePage.at,
        phases=phases,
    )


async def show_frame(request: PageRequest) -> LazyPage:
    """Show a game's board alone, for the pages of others."""
    ply = asked_ply(request)
    game, chances = await asyncio.gather(asked_game(request), asked_chances(request))
    return request.page("embed_game.html", game=game, ply=ply, chances=chances, view=GamePage.at)


def asked_ply(request: PageRequest) -> int | None:
    """The ply that an address asks for; ``None`` for the last one.

    Raises:
        Refusal: it is no number of stones.
    """
    ply = request.number("ply", -1, most=MOST_PLIES)
    return None if ply < 0 else ply


async def asked_chances(request: PageRequest) -> game_service_pb2.GetChancesResponse:
    """What the scores of the players of the game are worth that an address names."""
    asked = game_service_pb2.GetChancesRequest(game_id=request.path["game_id"])
    return await request.services.games.GetChances(asked)


async def asked_game(request: PageRequest) -> game_pb2.Game:
    """The game that an address names; while it runs and boards are delayed, its opening alone.

    Raises:
        AioRpcError: there is none.
    """
    asked = game_service_pb2.GetGameRequest(game_id=request.path["game_id"])
    return visible(request, (await request.services.games.GetGame(asked)).game)


def visible(request: PageRequest, game: game_pb2.Game) -> game_pb2.Game:
    """A game as it may be seen now: while it runs and boards are delayed, its opening alone."""
    return held_back(game) if is_held_back(request, game) else game


def is_held_back(request: PageRequest, game: game_pb2.Game) -> bool:
    """Whether a game is not to be seen as it is now."""
    return bool(request.site.settings.delay) and game.state == game_pb2.GAME_STATE_RUNNING


def held_back(game: game_pb2.Game) -> game_pb2.Game:
    """A game without what its players did: live boards tell that when it is due."""
    kept = game_pb2.Game()
    kept.CopyFrom(game)
    del kept.moves[game.opening_plies :]
    kept.ClearField("decisions")
    kept.ply = len(kept.moves)
    return kept


async def give_file(request: PageRequest) -> LazyPage:
    """Give a game as a file of the kind that its address ends with."""
    suffix = request.path["suffix"]
    if suffix in RECORDS:
        return await _record(request, suffix)
    if suffix not in MADE:
        endings = ", ".join((*RECORDS, *MADE))
        raise not_found(f'no game as ".{suffix}"; there are {endings}')
    return await MADE[suffix](request)


async def _record(request: PageRequest, suffix: str) -> LazyPage:
    """A game's record.

    Raises:
        Refusal: it is being played, and boards are delayed.
    """
    if request.site.settings.delay and is_held_back(request, await asked_game(request)):
        raise bad_request(text("game.files.held_back"))
    form, media_type = RECORDS[suffix]
    asked = game_service_pb2.ExportGameRequest(game_id=request.path["game_id"], format=form)
    found = await request.services.games.ExportGame(asked)
    return LazyPage((found,), lambda: found.text, media_type, _name(request))


async def _replay(request: PageRequest) -> LazyPage:
    """A page that replays a game by itself, to be kept."""
    game = await asked_game(request)

    def write() -> str:
        return replay_page(_shown_record(request, game))

    return LazyPage((game,), write, HTML, _name(request))


async def _svg(request: PageRequest) -> LazyPage:
    """A game's board at a ply."""
    ply, game = asked_ply(request), await asked_game(request)
    return LazyPage((game,), lambda: drawn(game, record_from_proto(game), ply), "image/svg+xml")


async def _png(request: PageRequest) -> LazyPage:
    """A game's board at a ply in pixels, alone or with its players."""
    ply, shape = asked_ply(request), request.text("shape", "square")
    if shape not in SHAPES:
        raise bad_request(f'no picture of the shape "{shape}"; write square or card')
    game = await asked_game(request)

    def write() -> bytes:
        board = drawn(game, record_from_proto(game), ply)
        if shape == "square":
            return square_png(board)
        record = _shown_record(request, game)
        last = len(record.moves)
        shown = last if ply is None else min(ply, last)
        return card_png(board, record, ply=shown, result=result_label(game))

    return LazyPage((game,), write, "image/png")


def _shown_record(request: PageRequest, game: game_pb2.Game) -> GameRecord:
    """A game whose players have the names that people call them by."""
    record, shown = record_from_proto(game), request.site.names.shown
    return replace(record, black=shown(record.black), white=shown(record.white))


def _name(request: PageRequest) -> str:
    """What a browser keeps the file as; the server has found the game, so its id is a number."""
    return f"game-{request.path['game_id']}.{request.path['suffix']}"


MADE: Mapping[str, Callable[[PageRequest], Awaitable[LazyPage]]] = {
    "html": _replay,
    "svg": _svg,
    "png": _png,
}
"""What is made here, by the ending of the address."""

ROUTES = (
    Page("/games/{game_id}.{suffix}", give_file),
    Page("/games/{game_id}", show),
    Page("/embed/games/{game_id}", show_frame),
)

"""One game: its page, and a frame of it for the pages of others."""

from __future__ import annotations

import asyncio

from meijin.game.rules.variant import MAX_SIDE
from meijin.v1 import fault_service_pb2, game_pb2, game_service_pb2
from meijin.web.drafts import Draft
from meijin.web.games.game_view import game_view
from meijin.web.routes import Page
from meijin.web.visit import Visit

MOST_PLIES = MAX_SIDE * MAX_SIDE
"""Stones on the largest board."""

MOST_FAULTS = 10
"""Entries of the fault ledger that are shown with a game."""


async def game_page(visit: Visit) -> Draft:
    """Show a game at a ply, with all that is known of it."""
    ply = asked_ply(visit)
    key = visit.place("game_id")
    game, faults = await asyncio.gather(
        asked_game(visit),
        visit.services.faults.ListFaults(
            fault_service_pb2.ListFaultsRequest(game_id=key, page_size=MOST_FAULTS)
        ),
    )
    return visit.page("game.html", lambda: game_view(game, ply, faults), game, faults)


async def frame(visit: Visit) -> Draft:
    """Show a game's board alone, for the pages of others."""
    ply, game = asked_ply(visit), await asked_game(visit)
    return visit.page("embed_game.html", lambda: game_view(game, ply), game)


def asked_ply(visit: Visit) -> int | None:
    """The ply that an address asks for; ``None`` for the last one.

    Raises:
        Refusal: it is no number of stones.
    """
    ply = visit.number("ply", -1, most=MOST_PLIES)
    return None if ply < 0 else ply


async def asked_game(visit: Visit) -> game_pb2.Game:
    """The game that an address names; while it runs and boards are delayed, its opening alone.

    Raises:
        AioRpcError: there is none.
    """
    request = game_service_pb2.GetGameRequest(game_id=visit.place("game_id"))
    game = (await visit.services.games.GetGame(request)).game
    return held_back(game) if is_held_back(visit, game) else game


def is_held_back(visit: Visit, game: game_pb2.Game) -> bool:
    """Whether a game is not to be seen as it is now."""
    return bool(visit.shell.settings.delay) and game.state == game_pb2.GAME_STATE_RUNNING


def held_back(game: game_pb2.Game) -> game_pb2.Game:
    """A game without what its players did: live boards tell that when it is due."""
    kept = game_pb2.Game()
    kept.CopyFrom(game)
    del kept.moves[game.opening_plies :]
    kept.ClearField("choice")
    kept.ply = len(kept.moves)
    return kept


ROUTES = (Page("/games/{game_id}", game_page), Page("/embed/games/{game_id}", frame))

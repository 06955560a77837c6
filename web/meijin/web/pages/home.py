"""The front page: the strongest game, the top of the ladder, results, and what is on."""

import asyncio

from meijin.v1 import game_pb2, game_service_pb2, ladder_service_pb2, tournament_service_pb2
from meijin.web.cache import LazyPage
from meijin.web.pages.games.view import GamePage
from meijin.web.pages.ladders.names import LadderName
from meijin.web.pages.ladders.table import IntervalScale, read_top
from meijin.web.pages.tv import featured
from meijin.web.request import Page, PageRequest

LADDERS = 10
"""Among which the one with most games is looked for."""
RESULTS, TOURNAMENTS = 5, 6
"""That are shown."""


async def show(request: PageRequest) -> LazyPage:
    services = request.services
    game, ladders, tournaments, games = await asyncio.gather(
        featured(request),
        services.ladders.ListLadders(ladder_service_pb2.ListLaddersRequest(page_size=LADDERS)),
        services.tournaments.ListTournaments(
            tournament_service_pb2.ListTournamentsRequest(page_size=TOURNAMENTS, with_leaders=True)
        ),
        services.games.ListGames(
            game_service_pb2.ListGamesRequest(state=game_pb2.GAME_STATE_FINISHED, page_size=RESULTS)
        ),
    )
    return request.page(
        "home.html",
        featured=game,
        view=GamePage.at,
        ratings=await request.ratings(games.games),
        tournaments=tournaments.tournaments,
        games=games.games,
        top=await read_top(services, ladders.ladders),
        ladder_name=LadderName.parse,
        scale_of=IntervalScale.of,
    )


ROUTES = (Page("/", show),)

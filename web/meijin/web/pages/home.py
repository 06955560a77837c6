"""The front page: the ladders, what is being played, and the tournaments."""

import asyncio

from meijin.v1 import game_service_pb2, ladder_service_pb2, tournament_service_pb2
from meijin.web.cache import LazyPage
from meijin.web.pages.ladders.names import LadderName
from meijin.web.pages.ladders.table import IntervalScale, read_top
from meijin.web.request import Page, PageRequest

SHOWN = 10
"""Lines of each list."""


async def show(request: PageRequest) -> LazyPage:
    services = request.services
    ladders, tournaments, games = await asyncio.gather(
        services.ladders.ListLadders(ladder_service_pb2.ListLaddersRequest(page_size=SHOWN)),
        services.tournaments.ListTournaments(
            tournament_service_pb2.ListTournamentsRequest(page_size=SHOWN)
        ),
        services.games.ListGames(game_service_pb2.ListGamesRequest(page_size=SHOWN)),
    )
    return request.page(
        "home.html",
        ladders=ladders.ladders,
        tournaments=tournaments.tournaments,
        games=games.games,
        top=await read_top(services, ladders.ladders),
        ladder_name=LadderName.parse,
        scale_of=IntervalScale.of,
    )


ROUTES = (Page("/", show),)

"""The front page: the ladders, what is being played, and the tournaments."""

import asyncio
from dataclasses import dataclass

from meijin.v1 import game_pb2, game_service_pb2, ladder_service_pb2, tournament_service_pb2
from meijin.web.drafts import Draft
from meijin.web.pages.ladders.top import TopView, read_top, top_view
from meijin.web.routes import Page
from meijin.web.visit import Visit

SHOWN = 10
"""Lines of each list."""


@dataclass(frozen=True, slots=True)
class HomeView:
    """What the front page shows."""

    top: TopView | None
    """The best of the ladder with most games; ``None`` before the first run of any."""
    ladders: tuple[ladder_service_pb2.Ladder, ...]
    tournaments: tuple[tournament_service_pb2.Tournament, ...]
    games: tuple[game_pb2.Game, ...]
    """The newest."""


async def home(visit: Visit) -> Draft:
    """Show a little of everything."""
    services = visit.services
    ladders, tournaments, games = await asyncio.gather(
        services.ladders.ListLadders(ladder_service_pb2.ListLaddersRequest(page_size=SHOWN)),
        services.tournaments.ListTournaments(
            tournament_service_pb2.ListTournamentsRequest(page_size=SHOWN)
        ),
        services.games.ListGames(game_service_pb2.ListGamesRequest(page_size=SHOWN)),
    )

    best = await read_top(services, ladders.ladders)

    def view() -> HomeView:
        top = None if best is None else top_view(best)
        return HomeView(
            top, tuple(ladders.ladders), tuple(tournaments.tournaments), tuple(games.games)
        )

    shown = (ladders, tournaments, games, *([] if best is None else [best]))
    return visit.page("home.html", view, *shown)


ROUTES = (Page("/", home),)

"""The game that is worth watching most: on the front page, and alone for a projector."""

import asyncio
from collections.abc import Mapping, Sequence

from google.protobuf.message import Message

from meijin.v1 import game_pb2, game_service_pb2, ladder_service_pb2, tournament_service_pb2
from meijin.v1.bot_service_pb2 import GetRatingsResponse
from meijin.web.cache import LazyPage
from meijin.web.gateway import Services
from meijin.web.pages.games.game import visible
from meijin.web.pages.games.view import GamePage
from meijin.web.pages.ladders.names import LadderName
from meijin.web.pages.ladders.table import IntervalScale, read_top
from meijin.web.request import Page, PageRequest

LOOKED_THROUGH = 100
"""Games that run, among which the strongest is looked for."""
SHOWN = 8
"""Bots of a tournament whose points stand beside a board."""


async def featured(request: PageRequest, tournament_id: str = "") -> Mapping[str, Message]:
    """The strongest game that runs, or the newest that has ended, with what is known of it.

    Empty where there is none.
    """
    running = await _listed(request, tournament_id, game_pb2.GAME_STATE_RUNNING, LOOKED_THROUGH)
    listed = running or await _listed(request, tournament_id, game_pb2.GAME_STATE_FINISHED, 1)
    if not listed:
        return {}
    ratings, games = await request.ratings(listed), request.services.games
    key = max(listed, key=lambda game: (_strength(game, ratings), game.ply)).game_id
    found, chances = await asyncio.gather(
        games.GetGame(game_service_pb2.GetGameRequest(game_id=key)),
        games.GetChances(game_service_pb2.GetChancesRequest(game_id=key)),
    )
    game = visible(request, found.game)
    shown = {name: elo for name, elo in ratings.ratings.items() if name in {game.black, game.white}}
    return {"game": game, "chances": chances, "ratings": GetRatingsResponse(ratings=shown)}


async def _listed(
    request: PageRequest, tournament_id: str, state: game_pb2.GameState.ValueType, most: int
) -> Sequence[game_pb2.Game]:
    """The newest games in a state."""
    asked = game_service_pb2.ListGamesRequest(
        tournament_id=tournament_id, state=state, page_size=most
    )
    return (await request.services.games.ListGames(asked)).games


def _strength(game: game_pb2.Game, ratings: GetRatingsResponse) -> float:
    """Of both players together."""
    return sum(ratings.ratings.get(name, 0) for name in (game.black, game.white))


async def show(request: PageRequest) -> LazyPage:
    """Show a board that fills a projector: the strongest game of all, or of a tournament."""
    tournament_id, services = request.text("tournament", most=20), request.services
    game, tournament, ladders = await asyncio.gather(
        featured(request, tournament_id),
        _tournament(services, tournament_id),
        services.ladders.ListLadders(ladder_service_pb2.ListLaddersRequest()),
    )
    return request.page(
        "tv.html",
        featured=game,
        view=GamePage.at,
        tournament=tournament,
        most=SHOWN,
        top=None if tournament else await read_top(services, ladders.ladders),
        ladder_name=LadderName.parse,
        scale_of=IntervalScale.of,
    )


async def _tournament(
    services: Services, tournament_id: str
) -> tournament_service_pb2.GetTournamentResponse | None:
    if not tournament_id:
        return None
    asked = tournament_service_pb2.GetTournamentRequest(tournament_id=tournament_id)
    return await services.tournaments.GetTournament(asked)


ROUTES = (Page("/tv", show),)

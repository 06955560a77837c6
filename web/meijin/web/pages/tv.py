"""The game that is worth watching most: on the front page, and alone for a projector."""

import asyncio
from dataclasses import dataclass

from markupsafe import Markup

from meijin.game import Board
from meijin.game.board.svg import board_svg
from meijin.v1 import game_pb2, game_service_pb2, ladder_service_pb2, tournament_service_pb2
from meijin.web.cache import LazyPage
from meijin.web.gateway import Services
from meijin.web.pages.games.game import visible
from meijin.web.pages.ladders.names import LadderName
from meijin.web.pages.ladders.table import IntervalScale, read_top
from meijin.web.request import Page, PageRequest
from meijin.wire.records import record_from_proto

LOOKED_THROUGH = 100
"""Games that run, among which the strongest is looked for."""
SHOWN = 8
"""Bots of a tournament whose points stand beside a board."""


@dataclass(frozen=True, slots=True)
class Featured:
    """A game that is shown large, and where it stands."""

    game: game_pb2.Game

    @property
    def topic(self) -> str:
        """What scripts follow; empty where the game has ended."""
        is_running = self.game.state == game_pb2.GAME_STATE_RUNNING
        return f"game:{self.game.game_id}" if is_running else ""

    @property
    def picture(self) -> Markup:
        record = record_from_proto(self.game)
        is_void = self.game.state == game_pb2.GAME_STATE_VOID
        board = Board.from_moves(record.moves, record.variant)
        return Markup(board_svg(board, numbers=False, winning=not is_void))  # noqa: S704 - cells


async def featured(request: PageRequest, tournament_id: str = "") -> Featured | None:
    """The strongest game that runs, or the newest that has ended; ``None`` where there is none."""
    games = request.services.games
    running, newest = await asyncio.gather(
        games.ListGames(
            game_service_pb2.ListGamesRequest(
                tournament_id=tournament_id,
                state=game_pb2.GAME_STATE_RUNNING,
                page_size=LOOKED_THROUGH,
            )
        ),
        games.ListGames(
            game_service_pb2.ListGamesRequest(
                tournament_id=tournament_id, state=game_pb2.GAME_STATE_FINISHED, page_size=1
            )
        ),
    )
    best = max(running.games, key=lambda game: game.ply, default=None)
    chosen = best or next(iter(newest.games), None)
    if chosen is None:
        return None
    asked = game_service_pb2.GetGameRequest(game_id=chosen.game_id)
    return Featured(visible(request, (await games.GetGame(asked)).game))


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

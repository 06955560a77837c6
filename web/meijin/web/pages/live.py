"""Boards of what is being played: a grid that moves by itself."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

from markupsafe import Markup

from meijin.game import Board, decode_moves
from meijin.game.board.svg import board_svg
from meijin.v1 import game_pb2, tournament_service_pb2
from meijin.v1.game_service_pb2 import GameUpdate, WatchArenaRequest, WatchArenaResponse
from meijin.web.drafts import Draft
from meijin.web.gateway import Services
from meijin.web.live.topics import GRID_GAMES, Topic
from meijin.web.routes import Page
from meijin.web.visit import Visit
from meijin.wire import variant_from_proto

MAX_TOURNAMENTS = 50
"""Looked through for those with games that run."""

FEW_MS = 10_000
"""Below so many milliseconds a clock shows tenths of a second."""


@dataclass(frozen=True, slots=True)
class LiveBoardView:
    """One board of the grid."""

    update: GameUpdate

    @property
    def game(self) -> game_pb2.Game:
        """The game without its moves."""
        return self.update.game

    @property
    def board(self) -> Markup:
        """The stones so far."""
        variant = variant_from_proto(self.game.variant)
        board = Board.from_moves(decode_moves(self.update.moves), variant)
        return Markup(board_svg(board, numbers=False))  # noqa: S704 - made of cells alone

    @property
    def clocks(self) -> tuple[tuple[str, str, str], ...]:
        """Each side, its bot, and its clock: empty where that is not told."""
        told = self.update.HasField("clocks")
        black, white = self.update.clocks.black_ms, self.update.clocks.white_ms
        return (
            ("black", self.game.black, clock_text(black) if told else ""),
            ("white", self.game.white, clock_text(white) if told else ""),
        )


@dataclass(frozen=True, slots=True)
class LiveView:
    """The grid."""

    topic: str
    tournament: tournament_service_pb2.Tournament | None
    """``None`` where all games are shown."""
    tournaments: tuple[tournament_service_pb2.Tournament, ...]
    """Those with games that run."""
    boards: tuple[LiveBoardView, ...]
    running: int
    """Games that are being played."""
    delay: timedelta
    """By how much the boards are behind."""
    most: int = GRID_GAMES


async def live(visit: Visit) -> Draft:
    """Show what is being played, or what is of a tournament."""
    tournament_id = visit.text("tournament", most=20)
    topic = Topic.parse(f"tournament:{tournament_id}" if tournament_id else "arena")
    delay = visit.shell.settings.delay
    tournament, listed, look = await asyncio.gather(
        _tournament(visit.services, tournament_id),
        visit.services.tournaments.ListTournaments(
            tournament_service_pb2.ListTournamentsRequest(page_size=MAX_TOURNAMENTS)
        ),
        _first_look(visit.services, None if delay else topic.request(delay)),
    )

    def view() -> LiveView:
        played = tuple(each for each in listed.tournaments if each.running_games)
        shown = None if tournament is None else tournament.tournament
        running = sum(each.running_games for each in played)
        if shown is not None:
            running = shown.running_games
        boards = tuple(LiveBoardView(update) for part in look for update in part.games)
        return LiveView(topic.name, shown, played, boards, running, delay)

    found = (listed, *look) if tournament is None else (listed, tournament, *look)
    return visit.page("live.html", view, *found)


async def _tournament(
    services: Services, tournament_id: str
) -> tournament_service_pb2.GetTournamentResponse | None:
    if not tournament_id:
        return None
    return await services.tournaments.GetTournament(
        tournament_service_pb2.GetTournamentRequest(tournament_id=tournament_id)
    )


async def _first_look(
    services: Services, request: WatchArenaRequest | None
) -> list[WatchArenaResponse]:
    """Where the games stand now; nothing where boards are to be behind them."""
    if request is None:
        return []
    look = []
    call = services.games.WatchArena(request)
    try:
        async for message in call:
            look.append(message)
            if not message.more:
                break
    finally:
        call.cancel()
    return look


def clock_text(milliseconds: int) -> str:
    """A clock as people read it: minutes and seconds, and tenths when there are few."""
    if milliseconds < FEW_MS:
        return f"0:{milliseconds // 100 / 10:04.1f}"
    minutes, seconds = divmod(milliseconds // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


ROUTES = (Page("/live", live),)

"""Boards of what is being played: a grid that moves by itself, and the stream that moves it."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from markupsafe import Markup
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from meijin.game import Board, decode_moves
from meijin.game.board.svg import board_svg
from meijin.v1 import tournament_service_pb2 as pb
from meijin.v1.game_service_pb2 import GameUpdate, WatchArenaRequest, WatchArenaResponse
from meijin.web.cache import LazyPage
from meijin.web.gateway import Services
from meijin.web.live.cell import event
from meijin.web.live.subscription import now_ms
from meijin.web.live.topics import GRID_GAMES, RULE_NAMES, Topic
from meijin.web.live.watcher import Watcher
from meijin.web.refusals import bad_request
from meijin.web.request import Page, PageRequest
from meijin.web.state import SiteState
from meijin.web.streaming import EVENT_STREAM, transport_of, until_left
from meijin.wire.values import variant_from_proto

MAX_TOURNAMENTS = 50
"""Looked through for those with games that run."""

FEW_MS = 10_000
"""Below this many milliseconds a clock shows tenths of a second."""

MAX_TOPICS = 4
"""Of one stream: a page shows a grid, or a few games."""

RETRY = timedelta(seconds=3)
"""When a browser is to come back whose stream has ended."""


async def show(request: PageRequest) -> LazyPage:
    """Show what is being played, or what is of a tournament."""
    tournament_id, services = request.text("tournament", most=20), request.services
    rule, bot = request.text("rule", most=20), request.text("bot").strip()
    name = f"tournament:{tournament_id}" if tournament_id else "arena"
    topic = Topic.parse(name + (rule and f"/rule:{rule}") + (bot and f"/bot:{bot}"))
    delay = request.site.settings.delay
    tournament, listed, look = await asyncio.gather(
        _tournament(services, tournament_id),
        services.tournaments.ListTournaments(pb.ListTournamentsRequest(page_size=MAX_TOURNAMENTS)),
        _first_look(services, None if delay else topic.request(delay)),
    )
    return request.page(
        "live.html",
        topic=topic.name,
        rules=RULE_NAMES,
        rule=rule,
        bot=bot,
        tournament=tournament,
        tournaments=[each for each in listed.tournaments if each.running_games],
        updates=[update for part in look for update in part.games],
        delay=delay,
        most=GRID_GAMES,
        board_of=board_of,
        clock_text=clock_text,
    )


async def _tournament(services: Services, tournament_id: str) -> pb.Tournament | None:
    if not tournament_id:
        return None
    asked = pb.GetTournamentRequest(tournament_id=tournament_id)
    return (await services.tournaments.GetTournament(asked)).tournament


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


def board_of(update: GameUpdate) -> Markup:
    variant = variant_from_proto(update.game.variant)
    board = Board.from_moves(decode_moves(update.moves), variant)
    return Markup(board_svg(board, numbers=False, names=False))  # noqa: S704 - made of cells alone


def clock_text(milliseconds: int) -> str:
    """A clock as people read it: minutes and seconds, and tenths when there are few."""
    if milliseconds < FEW_MS:
        return f"0:{milliseconds // 100 / 10:04.1f}"
    minutes, seconds = divmod(milliseconds // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


class Events:
    """Answers with a stream of events; plain ASGI, whose price a watcher is a third of others'."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream the topics of a request until the browser leaves, or the site stops."""
        http = Request(scope)
        site: SiteState = http.app.state.site
        request = PageRequest(http, site)
        watcher, topics = Watcher(send, transport_of(scope)), _topics(request)
        visitor, delay = request.visitor, site.settings.delay
        if http.method == "HEAD":
            await _begin(send)
            await _end(send)
            return
        watching = site.live.watching(
            watcher, visitor.host, topics, token=visitor.token, delay=delay
        )
        async with watching as cells:
            await _begin(send)
            leaving = asyncio.create_task(_await_end(receive, watcher))
            try:
                await watcher.follow(cells)
            finally:
                leaving.cancel()
        await _end(send)


def _topics(request: PageRequest) -> Sequence[Topic]:
    names = dict.fromkeys(request.text("topics", most=400).split(","))
    if len(names) > MAX_TOPICS:
        raise bad_request(f"topics: {len(names)} of them; at most {MAX_TOPICS} a stream")
    return [Topic.parse(name) for name in names]


async def _begin(send: Send) -> None:
    """Say when to come back, and what time it is by the clock of the frames."""
    await send({"type": "http.response.start", "status": 200, "headers": list(EVENT_STREAM)})
    retry = f"retry: {RETRY // timedelta(milliseconds=1)}\n"
    hello = retry.encode() + event("hello", {"now_ms": now_ms()})
    await send({"type": "http.response.body", "body": hello, "more_body": True})


async def _end(send: Send) -> None:
    """Say that the stream ends, so that the browser does not take it for a fault."""
    body = event("end", {})
    await send({"type": "http.response.body", "body": body, "more_body": False})


async def _await_end(receive: Receive, watcher: Watcher) -> None:
    await until_left(receive)
    watcher.leave()


ROUTES = (Page("/live", show), Route("/events", Events(), methods=["GET"]))

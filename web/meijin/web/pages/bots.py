"""The list of bots, and the page of one: its versions, its ratings, and how its games ended."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from http import HTTPStatus

from grpc.aio import AioRpcError

from meijin.v1 import bot_service_pb2 as pb
from meijin.v1 import fault_service_pb2, game_service_pb2
from meijin.v1 import ladder_service_pb2 as ladder_pb
from meijin.web.cache import LazyPage
from meijin.web.charts import ChartData, rating_chart
from meijin.web.labels import capability_labels
from meijin.web.refusals import refusal_of
from meijin.web.request import Page, PageRequest
from meijin.web.wording import text

LISTED = 100
"""Bots of a page of the list."""

MAX_SEARCH = 60
"""Characters that bots are searched by."""

SHOWN = 20
"""Games and openings of a bot; the rest has pages of its own."""

FAULTS = 10

RATINGS = 1000
"""Days of the rating history."""

MAX_NAME = 40
"""Characters of a bot's name."""

REFRESH = timedelta(seconds=10)
"""How old the page of a bot may be: its results are counted from some thousand games."""


async def show_list(request: PageRequest) -> LazyPage:
    """List bots by name: searched, those that are there, page by page."""
    asked = pb.ListBotsRequest(
        search=request.text("search", most=MAX_SEARCH),
        connected=request.flag("connected"),
        page_size=LISTED,
        page_token=request.text("page"),
    )
    found = await request.services.bots.ListBots(asked)
    for bot in found.bots:
        _forget_now(bot)
    return request.page("bots.html", asked=asked, found=found)


def _forget_now(bot: pb.Bot) -> None:
    """Take out when a bot was seen that is there: it is now, so that no two answers are equal."""
    if bot.connected:
        bot.ClearField("last_seen_time")


async def show(request: PageRequest) -> LazyPage:
    """Show a bot with everything that is known of it."""
    name, services = request.path["name"], request.services
    found, games, faults = await asyncio.gather(
        services.bots.GetBot(pb.GetBotRequest(name=name, with_results=True)),
        services.games.ListGames(game_service_pb2.ListGamesRequest(bot=name, page_size=SHOWN)),
        services.faults.ListFaults(fault_service_pb2.ListFaultsRequest(bot=name, page_size=FAULTS)),
    )
    bot = found.bot
    _forget_now(bot)
    ratings, (against, refusal) = await asyncio.gather(_ratings(request, bot), _met(request, bot))
    return request.page(
        "bot.html",
        found=found,
        games=games,
        faults=faults,
        ratings=ratings,
        against=against,
        refusal=refusal,
        opponent=request.text("against", most=MAX_NAME),
        shown=SHOWN,
        capabilities=capability_labels,
        labels={each.version_id: each.version or each.digest[:12] for each in found.versions},
        chart=partial(_chart, ratings.ratings, bot.ladder),
    )


async def _ratings(request: PageRequest, bot: pb.Bot) -> ladder_pb.ListRatingsResponse:
    if not bot.ladder:
        return ladder_pb.ListRatingsResponse()
    asked = ladder_pb.ListRatingsRequest(ladder=bot.ladder, bot=bot.name, page_size=RATINGS)
    return await request.services.ladders.ListRatings(asked)


def _chart(ratings: Sequence[ladder_pb.DayRating], ladder: str) -> ChartData:
    """The ratings of a bot's versions by days, each version as a line with its band."""
    versions: dict[str, list[ladder_pb.DayRating]] = {}
    for rating in ratings:
        versions.setdefault(rating.version, []).append(rating)
    return rating_chart(
        [(version or text("bot.unnamed"), days) for version, days in versions.items()],
        label=text("bot.history_caption", ladder=ladder),
        x_label=text("bot.day"),
        y_label=text("bots.elo"),
    )


async def _met(
    request: PageRequest, bot: pb.Bot
) -> tuple[ladder_pb.GetHeadToHeadResponse | None, str]:
    """The bot against the one that is asked for, or why nobody can tell."""
    opponent = request.text("against", most=MAX_NAME)
    if not opponent:
        return None, ""
    asked = ladder_pb.GetHeadToHeadRequest(ladder=bot.ladder, bot=bot.name, opponent=opponent)
    try:
        return await request.services.ladders.GetHeadToHead(asked), ""
    except AioRpcError as error:
        refusal = refusal_of(error)
        if refusal.status not in {HTTPStatus.NOT_FOUND, HTTPStatus.BAD_REQUEST}:
            raise
        return None, str(refusal)


ROUTES = (Page("/bots", show_list), Page("/bots/{name}", show, REFRESH))

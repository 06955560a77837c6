"""The page of a bot: how it does, whom it met, its versions, and what went wrong."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from functools import partial

from meijin.v1 import bot_service_pb2 as pb
from meijin.v1 import fault_service_pb2, game_pb2, game_service_pb2
from meijin.v1 import ladder_service_pb2 as ladder_pb
from meijin.web.cache import LazyPage
from meijin.web.charts import ChartData, rating_chart, sparkline
from meijin.web.labels import capability_labels
from meijin.web.pages.bots.listing import forget_now
from meijin.web.pages.bots.versions import changes, version_names
from meijin.web.pages.ladders.names import LadderName
from meijin.web.pages.ladders.reading import rating_history
from meijin.web.request import Page, PageRequest
from meijin.web.wording import text

RESULTS = 30
"""Of the strip, the newest."""

SHOWN = 10
"""Games, and openings, by themselves; the rest has pages of its own."""

FAULTS = 10
"""Causes of them."""

REFRESH = timedelta(seconds=10)
"""How old the page of a bot may be: its results are counted from some thousand games."""


async def show(request: PageRequest) -> LazyPage:
    """Show a bot with everything that is known of it."""
    name, services = request.path["name"], request.services
    ended = game_service_pb2.ListGamesRequest(
        bot=name, state=game_pb2.GAME_STATE_FINISHED, page_size=RESULTS
    )
    failed = fault_service_pb2.ListFaultGroupsRequest(bot=name, page_size=FAULTS)
    found, games, faults = await asyncio.gather(
        services.bots.GetBot(pb.GetBotRequest(name=name, with_results=True)),
        services.games.ListGames(ended),
        services.faults.ListFaultGroups(failed),
    )
    bot = found.bot
    forget_now(bot)
    ratings = ladder_pb.ListRatingsResponse()
    if bot.ladder:
        ratings = await rating_history(services, bot.ladder, bot.name)
    return request.page(
        "bot.html",
        found=found,
        games=games,
        faults=faults,
        ratings=ratings,
        shown=SHOWN,
        is_open=bot.challenges == pb.CHALLENGE_POLICY_ANYONE,
        ladder_name=LadderName.parse,
        ordinal=ordinal,
        capabilities=capability_labels,
        names=version_names(found.versions),
        changes=changes,
        by_id={each.version_id: each for each in found.versions},
        rated=next((each for each in found.versions if each.HasField("rating")), None),
        sparkline=partial(sparkline, ratings.ratings),
        chart=partial(_chart, ratings.ratings, bot.ladder),
    )


def ordinal(number: int) -> str:
    """A place, such as ``3rd``."""
    teens = number % 100 in {11, 12, 13}
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _chart(ratings: Sequence[ladder_pb.DayRating], ladder: str) -> ChartData:
    """The ratings of a bot's versions over time, each version as a line with its band."""
    versions: dict[str, list[ladder_pb.DayRating]] = {}
    for rating in ratings:
        versions.setdefault(rating.version, []).append(rating)
    return rating_chart(
        [(version or text("bot.unnamed"), days) for version, days in versions.items()],
        label=text("bot.history_caption", ladder=ladder),
        x_label=text("bot.day"),
        y_label=text("bots.elo"),
    )


ROUTES = (Page("/bots/{name}", show, REFRESH),)

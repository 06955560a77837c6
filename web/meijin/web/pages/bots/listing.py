"""The list of bots."""

from meijin.v1 import bot_service_pb2 as pb
from meijin.web.cache import LazyPage
from meijin.web.request import Page, PageRequest

LISTED = 100
"""Bots of a page."""

MAX_SEARCH = 60
"""Characters that bots are searched by."""


async def show(request: PageRequest) -> LazyPage:
    """List bots by name: searched, those that are there, page by page."""
    asked = pb.ListBotsRequest(
        search=request.text("search", most=MAX_SEARCH),
        connected=request.flag("connected"),
        page_size=LISTED,
        page_token=request.text("page"),
    )
    found = await request.services.bots.ListBots(asked)
    for bot in found.bots:
        forget_now(bot)
    return request.page("bots.html", asked=asked, found=found)


def forget_now(bot: pb.Bot) -> None:
    """Take out when a bot was seen that is there: it is now, so that no two answers are equal."""
    if bot.connected:
        bot.ClearField("last_seen_time")


ROUTES = (Page("/bots", show),)

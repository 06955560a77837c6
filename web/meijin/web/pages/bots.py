"""The list of bots: searched, those that are there, page by page."""

from dataclasses import dataclass

from meijin.v1 import bot_service_pb2 as pb
from meijin.web.drafts import Draft
from meijin.web.routes import Page
from meijin.web.visit import Visit

SHOWN = 100
"""Bots of a page."""

MAX_SEARCH = 60
"""Characters that bots are searched by."""


@dataclass(frozen=True, slots=True)
class BotsView:
    """One page of the list."""

    bots: tuple[pb.Bot, ...]
    search: str
    is_connected: bool
    """Only those that are there."""
    is_first: bool
    next_page: str
    """The token of the next page; empty on the last."""


async def bots(visit: Visit) -> Draft:
    """List bots by name."""
    request = pb.ListBotsRequest(
        search=visit.text("search", most=MAX_SEARCH),
        connected=visit.flag("connected"),
        page_size=SHOWN,
        page_token=visit.text("page"),
    )
    response = await visit.services.bots.ListBots(request)
    for bot in response.bots:
        forget_now(bot)

    def view() -> BotsView:
        return BotsView(
            bots=tuple(response.bots),
            search=request.search,
            is_connected=request.connected,
            is_first=not request.page_token,
            next_page=response.next_page_token,
        )

    return visit.page("bots.html", view, response)


def forget_now(bot: pb.Bot) -> None:
    """Take out when a bot was seen that is there: it is now, so that no two answers are equal."""
    if bot.connected:
        bot.ClearField("last_seen_time")


ROUTES = (Page("/bots", bots),)

"""Reading ladders: whole tables, chosen bots, and the same as files."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial

from google.protobuf.message import Message

from meijin.v1 import ladder_service_pb2 as pb
from meijin.web.cache import LazyPage
from meijin.web.gateway import Services
from meijin.web.refusals import bad_request
from meijin.web.request import PageRequest, Show
from meijin.wire.json import json_text
from meijin.wire.text import to_csv

PAGE = 1000

MAX_LINES = 10_000
"""Of a table; no ladder is known that has a tenth of them."""


async def whole_table(
    services: Services, request: pb.GetStandingsRequest
) -> pb.GetStandingsResponse:
    """All lines that a request asks for, as one answer."""
    asked = pb.GetStandingsRequest()
    asked.CopyFrom(request)
    asked.page_size = PAGE
    page = await services.ladders.GetStandings(asked)
    if not page.next_page_token:
        return page
    whole = pb.GetStandingsResponse()
    whole.CopyFrom(page)
    whole.next_page_token = ""
    while page.next_page_token and len(whole.standings) < MAX_LINES:
        asked.page_token = page.next_page_token
        page = await services.ladders.GetStandings(asked)
        whole.standings.extend(page.standings)
    return whole


async def rating_history(services: Services, ladder: str, bot: str) -> pb.ListRatingsResponse:
    """A bot's ratings at the ends of days, or by runs before two days are over."""
    asked = pb.ListRatingsRequest(ladder=ladder, bot=bot, page_size=PAGE)
    found = await services.ladders.ListRatings(asked)
    if len({rating.day for rating in found.ratings}) > 1:
        return found
    asked.by_run = True
    return await services.ladders.ListRatings(asked)


async def ladder_names(services: Services) -> Sequence[str]:
    found = await services.ladders.ListLadders(pb.ListLaddersRequest(page_size=PAGE))
    return [each.name for each in found.ladders]


def chosen_bots(request: PageRequest, most: int) -> list[str]:
    """The bots that an address names, each once: ``bots=ada,bob``, or ``bots=ada&bots=bob``.

    Raises:
        Refusal: they are more than `most`.
    """
    given = request.http.query_params.getlist("bots")
    names = [name.strip() for part in given for name in part.replace(",", " ").split()]
    chosen = list(dict.fromkeys(filter(None, names)))
    if len(chosen) > most:
        raise bad_request(f"bots: {len(chosen)} names; choose at most {most}")
    return chosen


def query_of(request: PageRequest) -> str:
    """What an address asks for, for the downloads."""
    return request.address().partition("?")[2]


def csv_file(
    name: str, rows: Callable[[], Iterable[Iterable[object]]], *shown: Message
) -> LazyPage:
    """A table for spreadsheets, made of some messages, that a browser keeps under a name."""
    return csv_text(name, lambda: to_csv(rows()), *shown)


def csv_text(name: str, write: Callable[[], str], *shown: Message) -> LazyPage:
    return LazyPage(shown, write, "text/csv; charset=utf-8", f"{name}.csv")


def json_file(write: Callable[[], str], *shown: Message) -> LazyPage:
    return LazyPage(shown, write, "application/json")


def as_json(read: Callable[[PageRequest], Awaitable[Message]]) -> Show:
    """The page of a message as JSON."""

    async def show(request: PageRequest) -> LazyPage:
        message = await read(request)
        return json_file(partial(json_text, message), message)

    return show

"""Atom feeds: what is new of a bot, and the runs of a ladder."""

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

from google.protobuf.timestamp_pb2 import Timestamp

from meijin.v1 import (
    bot_service_pb2,
    fault_service_pb2,
    game_pb2,
    game_service_pb2,
    ladder_service_pb2,
)
from meijin.web.cache import LazyPage
from meijin.web.gateway import Services
from meijin.web.labels import ending_label, result_label, word
from meijin.web.request import Page, PageRequest
from meijin.web.wording import text

ATOM = "application/atom+xml; charset=utf-8"

MAX_ENTRIES = 50
"""Of a feed, the newest."""

MAX_VERSIONS = 1000
"""Of a bot, as many as it may have."""

FRESH = timedelta(seconds=30)
"""How old a feed may be: readers come by every few minutes."""

NEVER = "1970-01-01T00:00:00Z"
"""When a feed without entries was changed last."""

_NO_XML = re.compile("[\ufffe\uffff]")
"""Characters that XML can't hold, of those that the templates leave."""


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """One piece of news."""

    updated: str
    """RFC 3339, to the microsecond and of one length, so that texts are in the order of time."""
    id: str
    """A path of ours that names it for good."""
    link: str
    """The path of the page to look at."""
    title: str
    summary: str


async def show_bot(request: PageRequest) -> LazyPage:
    """Tell of a bot's ended games, its versions and its faults."""
    name, services, shown = request.path["name"], request.services, request.site.names.shown
    games, versions, faults = await asyncio.gather(
        services.games.ListGames(
            game_service_pb2.ListGamesRequest(bot=name, page_size=2 * MAX_ENTRIES)
        ),
        _versions(services, name),
        services.faults.ListFaults(
            fault_service_pb2.ListFaultsRequest(bot=name, page_size=MAX_ENTRIES)
        ),
    )

    def entries() -> Iterator[FeedEntry]:
        yield from (_game(game, shown) for game in games.games if game.HasField("end_time"))
        yield from (_version(name, version, shown(name)) for version in versions)
        yield from (_fault(name, fault, shown(name)) for fault in faults.faults)

    page = request.page(
        "feed.xml",
        title=text("feeds.bot", name=shown(name)),
        link=f"/bots/{_quoted(name)}",
        games=games,
        versions=versions,
        faults=faults,
        entries=lambda: _newest(entries()),
        never=NEVER,
    )
    return replace(page, media_type=ATOM)


async def _versions(services: Services, name: str) -> Sequence[bot_service_pb2.BotVersion]:
    """All versions of a bot: they are listed oldest first."""
    asked = bot_service_pb2.ListBotVersionsRequest(name=name, page_size=MAX_VERSIONS)
    page = await services.bots.ListBotVersions(asked)
    versions = list(page.versions)
    while page.next_page_token:
        asked.page_token = page.next_page_token
        page = await services.bots.ListBotVersions(asked)
        versions += page.versions
    return versions


async def show_ladder(request: PageRequest) -> LazyPage:
    name = request.path["name"]
    asked = ladder_service_pb2.ListRatingRunsRequest(ladder=name, page_size=MAX_ENTRIES)
    found = await request.services.ladders.ListRatingRuns(asked)
    page = request.page(
        "feed.xml",
        title=text("feeds.ladder", name=name),
        link=f"/ladders/{_quoted(name)}",
        runs=found,
        entries=lambda: _newest(_run(name, run) for run in found.runs),
        never=NEVER,
    )
    return replace(page, media_type=ATOM)


def _newest(entries: Iterator[FeedEntry]) -> Sequence[FeedEntry]:
    found = sorted(entries, key=lambda entry: entry.updated, reverse=True)
    return found[:MAX_ENTRIES]


def _game(game: game_pb2.Game, shown: Callable[[str], str]) -> FeedEntry:
    path = f"/games/{_quoted(game.game_id)}"
    title = text(
        "feeds.game", black=shown(game.black), result=result_label(game), white=shown(game.white)
    )
    ending = ending_label(game.outcome.ending)
    summary = text("feeds.game_summary", game=game.game_id, ending=ending, n=game.ply)
    return FeedEntry(_instant(game.end_time), path, path, title, summary)


def _version(name: str, version: bot_service_pb2.BotVersion, shown: str) -> FeedEntry:
    page = f"/bots/{_quoted(name)}"
    label = _plain(version.version)
    named = text("feeds.version", bot=shown, version=label)
    title = named if label else text("feeds.version_unnamed", bot=shown)
    entry_id = f"{page}#version-{version.version_id}"
    return FeedEntry(_instant(version.create_time), entry_id, page, title, title)


def _fault(name: str, fault: fault_service_pb2.Fault, shown: str) -> FeedEntry:
    title = text("feeds.fault", kind=word(fault, "kind").replace("_", " "), bot=shown)
    page = f"/games/{_quoted(fault.game_id)}" if fault.game_id else f"/faults?bot={_quoted(name)}"
    entry_id = f"/faults#fault-{fault.fault_id}"
    return FeedEntry(_instant(fault.create_time), entry_id, page, title, _plain(fault.detail))


def _run(name: str, run: ladder_service_pb2.RatingRun) -> FeedEntry:
    page = f"/ladders/{_quoted(name)}?run={_quoted(run.run_id)}"
    title = text("feeds.run", run=run.run_id, n=run.games)
    summary = text("feeds.run_summary", name=name, n=run.games, checksum=run.checksum)
    return FeedEntry(_instant(run.create_time), page, page, title, summary)


def _instant(time: Timestamp) -> str:
    instant: datetime = time.ToDatetime(UTC)
    return instant.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _quoted(name: str) -> str:
    return quote(name, safe="")


def _plain(value: str) -> str:
    return _NO_XML.sub("", value)


ROUTES = (
    Page("/bots/{name}.atom", show_bot, FRESH),
    Page("/ladders/{name}.atom", show_ladder, FRESH),
)

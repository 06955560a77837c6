"""Atom feeds: what is new of a bot, and the runs of a ladder."""

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from meijin.v1 import (
    bot_service_pb2,
    fault_service_pb2,
    game_pb2,
    game_service_pb2,
    ladder_service_pb2,
)
from meijin.web.drafts import Draft
from meijin.web.gateway import Services
from meijin.web.routes import Page
from meijin.web.visit import Visit
from meijin.web.wording import text
from meijin.wire import outcome_from_proto

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
class Entry:
    """One piece of news."""

    id: str
    """A path of ours that names it for good."""
    title: str
    updated: str
    """RFC 3339."""
    link: str
    """The path of the page to look at."""
    summary: str


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed, newest first."""

    title: str
    link: str
    """The path of the page that it is about."""
    entries: tuple[Entry, ...]

    @property
    def updated(self) -> str:
        """When the newest entry was made."""
        return self.entries[0].updated if self.entries else NEVER


async def bot(visit: Visit) -> Draft:
    """Tell of a bot's ended games, its versions and its faults."""
    name, services = visit.place("name"), visit.services
    games, versions, faults = await asyncio.gather(
        services.games.ListGames(
            game_service_pb2.ListGamesRequest(bot=name, page_size=2 * MAX_ENTRIES)
        ),
        _versions(services, name),
        services.faults.ListFaults(
            fault_service_pb2.ListFaultsRequest(bot=name, page_size=MAX_ENTRIES)
        ),
    )
    link = f"/bots/{_quoted(name)}"

    def view() -> Feed:
        entries = [
            *(_game(game) for game in games.games if game.HasField("end_time")),
            *(_version(name, version) for page in versions for version in page.versions),
            *(_fault(name, fault) for fault in faults.faults),
        ]
        return Feed(text("feeds.bot", name=name), link, _newest(entries))

    return _draft(visit, view, games, *versions, faults)


async def _versions(
    services: Services, name: str
) -> Sequence[bot_service_pb2.ListBotVersionsResponse]:
    """All versions of a bot: they are listed oldest first."""
    request = bot_service_pb2.ListBotVersionsRequest(name=name, page_size=MAX_VERSIONS)
    pages = [await services.bots.ListBotVersions(request)]
    while pages[-1].next_page_token:
        request.page_token = pages[-1].next_page_token
        pages.append(await services.bots.ListBotVersions(request))
    return pages


async def ladder(visit: Visit) -> Draft:
    """Tell of a ladder's runs."""
    name = visit.place("name")
    request = ladder_service_pb2.ListRatingRunsRequest(ladder=name, page_size=MAX_ENTRIES)
    runs = await visit.services.ladders.ListRatingRuns(request)
    link = f"/ladders/{_quoted(name)}"

    def view() -> Feed:
        entries = (_run(name, link, run) for run in runs.runs)
        return Feed(text("feeds.ladder", name=name), link, _newest(entries))

    return _draft(visit, view, runs)


def _draft(visit: Visit, view: Callable[[], Feed], *messages: Message) -> Draft:
    return replace(visit.page("feed.xml", view, *messages), media_type=ATOM)


def _newest(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    found: Sequence[Entry] = sorted(entries, key=lambda entry: entry.updated, reverse=True)
    return tuple(found[:MAX_ENTRIES])


def _game(game: game_pb2.Game) -> Entry:
    path = f"/games/{_quoted(game.game_id)}"
    summary = text("feeds.game_summary", game=game.game_id, plies=game.ply)
    return Entry(path, _game_title(game), _instant(game.end_time), path, summary)


def _game_title(game: game_pb2.Game) -> str:
    outcome = outcome_from_proto(game.outcome)
    sides = {"black": game.black, "white": game.white}
    if game.state == game_pb2.GAME_STATE_VOID:
        return text("feeds.game_void", **sides)
    if outcome.winner is None:
        return text("feeds.game_drawn", **sides)
    winner = sides[outcome.winner.name.lower()]
    return text("feeds.game_won", **sides, winner=winner, ending=outcome.ending.value)


def _version(name: str, version: bot_service_pb2.BotVersion) -> Entry:
    page = f"/bots/{_quoted(name)}"
    label = _plain(version.version)
    named = text("feeds.version", bot=name, version=label)
    title = named if label else text("feeds.version_unnamed", bot=name)
    entry_id = f"{page}#version-{version.version_id}"
    return Entry(entry_id, title, _instant(version.create_time), page, title)


def _fault(name: str, fault: fault_service_pb2.Fault) -> Entry:
    kind = fault_service_pb2.FaultKind.Name(fault.kind).removeprefix("FAULT_KIND_")
    title = text("feeds.fault", kind=kind.lower().replace("_", " "), bot=name)
    page = f"/games/{_quoted(fault.game_id)}" if fault.game_id else f"/faults?bot={_quoted(name)}"
    entry_id = f"/faults#fault-{fault.fault_id}"
    return Entry(entry_id, title, _instant(fault.create_time), page, _plain(fault.detail))


def _run(name: str, link: str, run: ladder_service_pb2.RatingRun) -> Entry:
    page = f"{link}?run={_quoted(run.run_id)}"
    title = text("feeds.run", run=run.run_id, games=run.games)
    summary = text("feeds.run_summary", name=name, games=run.games, checksum=run.checksum)
    return Entry(page, title, _instant(run.create_time), page, summary)


def _instant(time: Timestamp) -> str:
    """An instant to the microsecond, of one length, so that texts are in the order of time."""
    instant: datetime = time.ToDatetime(UTC)
    return instant.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _quoted(name: str) -> str:
    return quote(name, safe="")


def _plain(value: str) -> str:
    return _NO_XML.sub("", value)


ROUTES = (
    Page("/bots/{name}.atom", bot, FRESH),
    Page("/ladders/{name}.atom", ladder, FRESH),
)

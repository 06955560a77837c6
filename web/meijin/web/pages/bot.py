"""The page of one bot: its versions, its rating history, and what its games have come to."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus

from google.protobuf.wrappers_pb2 import StringValue
from grpc.aio import AioRpcError

from meijin.v1 import bot_service_pb2, fault_service_pb2, game_service_pb2
from meijin.v1 import ladder_service_pb2 as ladder_pb
from meijin.web.charts import ChartData
from meijin.web.drafts import Draft
from meijin.web.fault_lines import FaultLine, fault_lines
from meijin.web.game_lines import GameLine, game_lines
from meijin.web.histories import rating_chart
from meijin.web.labels import capability_labels, ending_label, variant_label
from meijin.web.pages.bots import forget_now
from meijin.web.refusals import refusal_of
from meijin.web.routes import Page
from meijin.web.visit import Visit

SHOWN = 20
"""Games and openings; the rest has pages of its own."""

FAULTS = 10

RATINGS = 1000
"""Days of the rating history."""

MAX_NAME = 40
"""Characters of a bot's name."""

REFRESH = timedelta(seconds=10)
"""How old the page may be: its results are counted from some thousand games."""


@dataclass(frozen=True, slots=True)
class VersionLine:
    """A version and where it came from."""

    version: bot_service_pb2.BotVersion
    label: str
    parent: str
    """What the version is called that it came from; empty for the first."""


@dataclass(frozen=True, slots=True)
class OpeningLine:
    """What a bot scored on one opening."""

    variant: str
    opening: str
    scores: ladder_pb.ColorScores


@dataclass(frozen=True, slots=True)
class EndingLine:
    """A bot's games that ended alike."""

    label: str
    ending: bot_service_pb2.BotEnding


@dataclass(frozen=True, slots=True)
class HeadToHead:
    """One bot against another, or why nobody can tell."""

    opponent: str
    found: ladder_pb.GetHeadToHeadResponse | None
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class BotView:
    """What the page of a bot shows."""

    bot: bot_service_pb2.Bot
    capabilities: tuple[str, ...]
    """A sentence each; empty while it is away."""
    versions: tuple[VersionLine, ...]
    results: bot_service_pb2.BotResults
    openings: tuple[OpeningLine, ...]
    endings: tuple[EndingLine, ...]
    ratings: tuple[ladder_pb.DayRating, ...]
    """The newest first."""
    history: ChartData
    head_to_head: HeadToHead | None
    games: tuple[GameLine, ...]
    faults: tuple[FaultLine, ...]


async def bot(visit: Visit) -> Draft:
    """Show a bot."""
    name, services = visit.place("name"), visit.services
    asked, games, faults = await asyncio.gather(
        services.bots.GetBot(bot_service_pb2.GetBotRequest(name=name, with_results=True)),
        services.games.ListGames(game_service_pb2.ListGamesRequest(bot=name, page_size=SHOWN)),
        services.faults.ListFaults(fault_service_pb2.ListFaultsRequest(bot=name, page_size=FAULTS)),
    )
    forget_now(asked.bot)
    ratings, against = await asyncio.gather(_ratings(visit, asked.bot), _against(visit, asked.bot))
    told = StringValue(value="" if against is None else against.refusal)
    found = None if against is None else against.found

    def view() -> BotView:
        return BotView(
            bot=asked.bot,
            capabilities=capability_labels(asked.bot.capabilities) if asked.bot.connected else (),
            versions=_versions(asked),
            results=asked.results,
            openings=tuple(map(_opening, asked.results.openings[:SHOWN])),
            endings=tuple(
                EndingLine(ending_label(each.ending), each) for each in asked.results.endings
            ),
            ratings=tuple(ratings.ratings),
            history=rating_chart(ratings.ratings, asked.bot.ladder),
            head_to_head=against,
            games=game_lines(games.games),
            faults=fault_lines(faults.faults),
        )

    shown = (asked, games, faults, ratings, told)
    return visit.page("bot.html", view, *shown, *([] if found is None else [found]))


async def _ratings(visit: Visit, bot: bot_service_pb2.Bot) -> ladder_pb.ListRatingsResponse:
    if not bot.ladder:
        return ladder_pb.ListRatingsResponse()
    request = ladder_pb.ListRatingsRequest(ladder=bot.ladder, bot=bot.name, page_size=RATINGS)
    return await visit.services.ladders.ListRatings(request)


async def _against(visit: Visit, bot: bot_service_pb2.Bot) -> HeadToHead | None:
    """The bot against the one that is asked for; an unknown name is told on the page."""
    opponent = visit.text("against", most=MAX_NAME)
    if not opponent:
        return None
    request = ladder_pb.GetHeadToHeadRequest(ladder=bot.ladder, bot=bot.name, opponent=opponent)
    try:
        return HeadToHead(opponent, await visit.services.ladders.GetHeadToHead(request))
    except AioRpcError as error:
        refusal = refusal_of(error)
        if refusal.status not in {HTTPStatus.NOT_FOUND, HTTPStatus.BAD_REQUEST}:
            raise
        return HeadToHead(opponent, None, str(refusal))


def _versions(asked: bot_service_pb2.GetBotResponse) -> tuple[VersionLine, ...]:
    labels = {each.version_id: each.version or each.digest[:12] for each in asked.versions}
    return tuple(
        VersionLine(
            each,
            labels[each.version_id],
            labels.get(each.parent_version_id, each.parent_version_id),
        )
        for each in asked.versions
    )


def _opening(row: bot_service_pb2.BotOpening) -> OpeningLine:
    return OpeningLine(variant_label(row.variant), row.opening, row.scores)


ROUTES = (Page("/bots/{name}", bot, REFRESH),)

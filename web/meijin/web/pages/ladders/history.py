"""Ratings at the end of each day, or by run before two days are over, of any bots."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta

from meijin.v1 import ladder_service_pb2 as pb
from meijin.web.cache import LazyPage
from meijin.web.charts import ChartData, rating_chart
from meijin.web.pages.ladders.names import LadderName
from meijin.web.pages.ladders.reading import (
    chosen_bots,
    csv_file,
    json_file,
    query_of,
    rating_history,
    whole_table,
)
from meijin.web.request import Page, PageRequest
from meijin.web.wording import text
from meijin.wire.json import json_object
from meijin.wire.standings import COLUMNS, games_of
from meijin.wire.text import spreadsheet_text

MAX_BOTS = 12
"""In one chart."""
USUAL_BOTS = 5
"""The best, where nobody has chosen."""
OFFERED = 50
"""Bots that are offered to be chosen, the best."""
MAX_AGE = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class History:
    """What was read of the bots."""

    table: pb.GetStandingsResponse
    """The published run's."""
    ratings: Mapping[str, pb.ListRatingsResponse]
    """By bot."""
    shown: Callable[[str], str]
    """What people call a bot of a name."""

    def versions(self, bot: str) -> Mapping[str, Sequence[pb.DayRating]]:
        """The ratings of each version, oldest first: the last is the published run's."""
        versions: dict[str, list[pb.DayRating]] = {}
        for rating in (*reversed(self.ratings[bot].ratings), *self._latest(bot)):
            versions.setdefault(rating.version, []).append(rating)
        return versions

    def curves(self) -> Sequence[tuple[str, Sequence[pb.DayRating]]]:
        """The ratings of each version by its bot, and by its label where a bot has several."""
        return [
            (f"{self.shown(bot)} {version if len(versions) > 1 else ''}".rstrip(), days)
            for bot, versions in ((bot, self.versions(bot)) for bot in self.ratings)
            for version, days in versions.items()
        ]

    def chart(self) -> ChartData:
        """The curves with their 95 % intervals."""
        return rating_chart(
            self.curves(),
            label=text("ladders.history.chart", ladder=self.table.ladder.name),
            x_label=text("ladders.history.day"),
            y_label=COLUMNS["elo"].title,
        )

    def _latest(self, bot: str) -> Iterator[pb.DayRating]:
        """The ratings of the published run, where its day is not over yet."""
        day = f"{self.table.run.create_time.ToDatetime(UTC):%Y-%m-%d}"
        if any(rating.day >= day for rating in self.ratings[bot].ratings):
            return
        for row in self.table.standings:
            if row.bot == bot:
                games = games_of(row.as_black) + games_of(row.as_white)
                yield pb.DayRating(
                    day=day, version=row.version, elo=row.elo, margin=row.margin, games=games
                )

    def rows(self) -> Iterator[Sequence[object]]:
        yield ("bot", "version", "day", "elo", "margin", "games")
        for bot in self.ratings:
            for version, days in self.versions(bot).items():
                names = spreadsheet_text(bot), spreadsheet_text(version)
                for each in days:
                    time = each.create_time.ToJsonString() if each.HasField("create_time") else ""
                    yield (*names, time or each.day, each.elo, each.margin, each.games)

    def json(self) -> str:
        """What the contract's ListRatings answers for each bot."""
        bots = [{"bot": bot, **json_object(found)} for bot, found in self.ratings.items()]
        return json.dumps({"ladder": self.table.ladder.name, "bots": bots})


async def _history(request: PageRequest) -> History:
    bots, services = chosen_bots(request, MAX_BOTS), request.services
    table = await whole_table(services, pb.GetStandingsRequest(ladder=request.path["name"]))
    bots = bots or _best(table)[:USUAL_BOTS]
    read = (rating_history(services, table.ladder.name, bot) for bot in bots)
    found = await asyncio.gather(*read)
    return History(table, dict(zip(bots, found, strict=True)), request.site.names.shown)


def _best(table: pb.GetStandingsResponse) -> list[str]:
    return list(dict.fromkeys(row.bot for row in table.standings))


async def show(request: PageRequest) -> LazyPage:
    """Show the ratings of some bots over the days."""
    history = await _history(request)
    return request.page(
        "ladders/history.html",
        ladder=history.table.ladder,
        name=LadderName.parse(history.table.ladder.name),
        table=history.table,
        ratings=history.ratings,
        history=history,
        offered=_best(history.table)[:OFFERED],
        query=query_of(request),
    )


async def show_csv(request: PageRequest) -> LazyPage:
    history = await _history(request)
    name = f"{history.table.ladder.name}-history"
    return csv_file(name, history.rows, history.table, *history.ratings.values())


async def show_json(request: PageRequest) -> LazyPage:
    """What the contract's ListRatings answers for each bot, as JSON."""
    history = await _history(request)
    return json_file(history.json, history.table, *history.ratings.values())


ROUTES = (
    Page("/ladders/{name}/history.csv", show_csv, MAX_AGE),
    Page("/ladders/{name}/history.json", show_json, MAX_AGE),
    Page("/ladders/{name}/history", show, MAX_AGE),
)

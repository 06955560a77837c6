"""Ratings at the end of each day, of any bots."""

import asyncio
import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import partial

from google.protobuf.json_format import MessageToDict

from meijin.v1 import ladder_service_pb2 as pb
from meijin.web.charts import ChartData, ChartSeries
from meijin.web.drafts import Draft
from meijin.web.pages.ladders.bots import chosen_bots
from meijin.web.pages.ladders.downloads import csv_draft, json_draft
from meijin.web.pages.ladders.names import LadderName
from meijin.web.pages.ladders.reading import whole_table
from meijin.web.routes import Page
from meijin.web.visit import Visit
from meijin.web.wording import text
from meijin.wire.standings import games_of
from meijin.wire.text import spreadsheet_text

MAX_BOTS = 12
"""In one chart."""
USUAL_BOTS = 5
"""The best, where nobody has chosen."""
OFFERED = 50
"""Bots that are offered to be chosen, the best."""
DAYS = 1000
"""Lines of each bot, the newest: a version's on a day is one."""
MAX_AGE = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Curve:
    """The ratings of a version, oldest first."""

    name: str
    bot: str
    days: Sequence[pb.DayRating]


@dataclass(frozen=True, slots=True)
class HistoryView:
    """What the page of a history shows."""

    ladder: pb.Ladder
    name: LadderName
    bots: Sequence[str]
    offered: Sequence[str]
    curves: Sequence[Curve]
    chart: ChartData | None
    """``None`` where there is nothing to draw."""
    query: str


@dataclass(frozen=True, slots=True)
class History:
    """What was read of the bots."""

    table: pb.GetStandingsResponse
    """The published run's."""
    ratings: Mapping[str, pb.ListRatingsResponse]
    """By bot."""

    def curves(self) -> list[Curve]:
        """One of each version that was rated: the last point is the published run's."""
        made = []
        for bot, found in self.ratings.items():
            versions: dict[str, list[pb.DayRating]] = {}
            for rating in (*reversed(found.ratings), *self._latest(bot)):
                versions.setdefault(rating.version, []).append(rating)
            for version, days in versions.items():
                name = f"{bot} {version}".rstrip() if len(versions) > 1 else bot
                made.append(Curve(name, bot, days))
        return made

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


async def _history(visit: Visit) -> History:
    ladder = visit.place("name")
    bots = chosen_bots(visit, MAX_BOTS)
    table = await whole_table(visit.services, pb.GetStandingsRequest(ladder=ladder))
    if not bots:
        best = dict.fromkeys(row.bot for row in table.standings)
        bots = list(best)[:USUAL_BOTS]
    asked = [
        pb.ListRatingsRequest(ladder=table.ladder.name, bot=bot, page_size=DAYS) for bot in bots
    ]
    found = await asyncio.gather(*map(visit.services.ladders.ListRatings, asked))
    return History(table, dict(zip(bots, found, strict=True)))


async def show(visit: Visit) -> Draft:
    """Show the ratings of some bots over the days."""
    history = await _history(visit)
    query = visit.address().partition("?")[2]
    view = partial(_view, history, query)
    return visit.page("ladders/history.html", view, history.table, *history.ratings.values())


def _view(history: History, query: str) -> HistoryView:
    curves, ladder = history.curves(), history.table.ladder
    return HistoryView(
        ladder=ladder,
        name=LadderName.parse(ladder.name),
        bots=list(history.ratings),
        offered=list(dict.fromkeys(row.bot for row in history.table.standings))[:OFFERED],
        curves=curves,
        chart=chart_of(curves, text("ladders.history.chart", ladder=ladder.name)),
        query=query,
    )


def chart_of(curves: Sequence[Curve], label: str) -> ChartData | None:
    """The curves with their 95 % intervals; ``None`` of none."""
    days = sorted({rating.day for curve in curves for rating in curve.days})
    if not days:
        return None
    return ChartData(
        label=label,
        x=[_seconds(day) for day in days],
        x_label=text("ladders.history.day"),
        y_label=text("ladders.columns.elo.title"),
        series=[_series(curve, days) for curve in curves],
        is_time=True,
    )


def _series(curve: Curve, days: Sequence[str]) -> ChartSeries:
    by_day = {rating.day: rating for rating in curve.days}
    found = [by_day.get(day) for day in days]
    return ChartSeries(
        label=curve.name,
        values=[None if each is None else round(each.elo, 1) for each in found],
        low=[None if each is None else round(each.elo - each.margin, 1) for each in found],
        high=[None if each is None else round(each.elo + each.margin, 1) for each in found],
    )


def _seconds(day: str) -> float:
    return datetime.combine(date.fromisoformat(day), time(), UTC).timestamp()


async def show_csv(visit: Visit) -> Draft:
    """A line for each version and day, as CSV."""
    history = await _history(visit)
    name = f"{history.table.ladder.name}-history"
    return csv_draft(name, partial(_csv, history), history.table, *history.ratings.values())


def _csv(history: History) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("bot", "version", "day", "elo", "margin", "games"))
    for curve in history.curves():
        for each in curve.days:
            names = (spreadsheet_text(curve.bot), spreadsheet_text(each.version))
            writer.writerow((*names, each.day, each.elo, each.margin, each.games))
    return file.getvalue()


async def show_json(visit: Visit) -> Draft:
    """What the contract's ListRatings answers for each bot, as JSON."""
    history = await _history(visit)
    return json_draft(partial(_json, history), history.table, *history.ratings.values())


def _json(history: History) -> str:
    bots = [{"bot": bot, **MessageToDict(found)} for bot, found in history.ratings.items()]
    return json.dumps({"ladder": history.table.ladder.name, "bots": bots})


ROUTES = (
    Page("/ladders/{name}/history.csv", show_csv, MAX_AGE),
    Page("/ladders/{name}/history.json", show_json, MAX_AGE),
    Page("/ladders/{name}/history", show, MAX_AGE),
)

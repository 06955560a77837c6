"""A ladder's table: who stands where, how sure that is, and how it was computed."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from meijin.v1 import ladder_service_pb2 as pb
from meijin.web.drafts import Draft
from meijin.web.pages.ladders.choice import Choice, Only, choice_of
from meijin.web.pages.ladders.columns import LEFT, RIGHT, Column, Facts, Order
from meijin.web.pages.ladders.downloads import csv_draft, json_draft, message_json
from meijin.web.pages.ladders.intervals import Bar, Scale
from meijin.web.pages.ladders.names import LadderName, Neighbours
from meijin.web.pages.ladders.reading import ladder_names, whole_table
from meijin.web.routes import Page
from meijin.web.visit import Visit
from meijin.wire.standings import MARKS, marks, standings_csv, verify_line

ROWS = 1000
"""Of a table; the others are on further pages."""

MAX_AGE = timedelta(seconds=5)
"""Of a table: one of 1,000 lines takes a tenth of a second to write."""


@dataclass(frozen=True, slots=True)
class Heading:
    """The head of a column."""

    name: str
    is_number: bool
    order: Order | None
    """How the lines are ordered by it; ``None`` where they are by another one."""
    next_order: Order
    """What a click brings."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line as it is shown."""

    rank: int
    bot: str
    version: str
    """Its label, where several versions of the bot are shown."""
    marks: str
    is_faint: bool
    """Nobody knows well where it stands."""
    bar: Bar
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableView:
    """What the page of a ladder shows."""

    ladder: pb.Ladder
    name: LadderName
    neighbours: Neighbours
    run: pb.RatingRun | None
    choice: Choice
    only: tuple[Only, ...]
    scale: Scale
    left: Sequence[Heading]
    headings: Sequence[Heading]
    lines: Sequence[Line]
    marks: Sequence[str]
    """Those that a line has."""
    found: int
    """Lines on all pages."""
    total: int
    """Lines of the run's table."""
    page: int
    pages: int
    verify: str
    query: str
    """What the address asks for, for the downloads."""
    is_anchored: bool
    is_settled: bool
    """Somebody has played enough for its rating to weigh in the mean."""


async def show(visit: Visit) -> Draft:
    """Show a ladder's table."""
    choice, place = choice_of(visit), visit.number("page", 1, least=1, most=1000)
    table, names = await asyncio.gather(
        whole_table(visit.services, choice.request(visit.place("name"))),
        ladder_names(visit.services),
    )
    query = visit.address().partition("?")[2]

    def view() -> TableView:
        return table_view(table, [each.name for each in names.ladders], choice, place, query)

    return visit.page("ladders/table.html", view, table, names)


def table_view(
    table: pb.GetStandingsResponse, names: Sequence[str], choice: Choice, place: int, query: str
) -> TableView:
    """A table with the lines that are chosen of it."""
    found, name = choice.lines(table.standings), LadderName.parse(table.ladder.name)
    shown = found[(place - 1) * ROWS : place * ROWS]
    scale = Scale.of(table.standings)
    columns = _columns(shown)
    lines = _lines(shown, list(columns.values()), scale)
    has = {mark for line in lines for mark in line.marks}
    return TableView(
        ladder=table.ladder,
        name=name,
        neighbours=Neighbours.of(name, names),
        run=table.run if table.HasField("run") else None,
        choice=choice,
        only=tuple(Only),
        scale=scale,
        left=[_heading(column, choice) for column in LEFT],
        headings=[_heading(column, choice) for column in columns],
        lines=lines,
        marks=[mark for mark in MARKS if mark in has],
        found=len(found),
        total=len(table.standings),
        page=place,
        pages=max(1, -(-len(found) // ROWS)),
        verify=verify_line(table.ladder.name, table.run.run_id),
        query=query,
        is_anchored=any(row.anchor for row in table.standings),
        is_settled=not all(row.provisional for row in table.standings),
    )


def _columns(lines: Sequence[Facts]) -> dict[Column, list[str]]:
    """The columns that say something, with what they say of each line."""
    cells = {column: [column.cell(line) for line in lines] for column in RIGHT}
    return {column: texts for column, texts in cells.items() if any(texts)}


def _lines(lines: Sequence[Facts], columns: Sequence[Sequence[str]], scale: Scale) -> list[Line]:
    rows = [line.row for line in lines]
    versions = Counter(row.bot for row in rows)
    return [
        Line(
            rank=row.rank,
            bot=row.bot,
            version=row.version if versions[row.bot] > 1 else "",
            marks=marks(row),
            is_faint=row.provisional or not row.linked,
            bar=scale.bar(row),
            cells=cells,
        )
        for row, cells in zip(rows, zip(*columns, strict=True), strict=True)
    ]


def _heading(column: Column, choice: Choice) -> Heading:
    order = choice.order if column is choice.column else None
    following = column.first if order is None else order.reverse
    return Heading(column.name, column.is_number, order, following)


async def show_csv(visit: Visit) -> Draft:
    """The lines that are chosen, as CSV."""
    choice = choice_of(visit)
    table = await whole_table(visit.services, choice.request(visit.place("name")))
    return csv_draft(table.ladder.name, partial(_csv, table, choice), table)


def _csv(table: pb.GetStandingsResponse, choice: Choice) -> str:
    return standings_csv(line.row for line in choice.lines(table.standings))


async def show_json(visit: Visit) -> Draft:
    """The same as a message of the contract in JSON."""
    choice = choice_of(visit)
    table = await whole_table(visit.services, choice.request(visit.place("name")))

    def write() -> str:
        run = table.run if table.HasField("run") else None
        lines = [line.row for line in choice.lines(table.standings)]
        return message_json(pb.GetStandingsResponse(ladder=table.ladder, run=run, standings=lines))

    return json_draft(write, table)


ROUTES = (
    Page("/ladders/{name}.csv", show_csv, MAX_AGE),
    Page("/ladders/{name}.json", show_json, MAX_AGE),
    Page("/ladders/{name}", show, MAX_AGE),
)

"""A ladder's table: who stands where, how sure that is, and how it was computed."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property, partial
from typing import Self

from meijin.v1 import ladder_service_pb2 as pb
from meijin.web.cache import LazyPage
from meijin.web.gateway import Services
from meijin.web.pages.ladders.choice import LineFilter, Order, Runner, TableChoice, choice_of
from meijin.web.pages.ladders.names import LadderName
from meijin.web.pages.ladders.reading import (
    csv_text,
    json_file,
    ladder_names,
    query_of,
    whole_table,
)
from meijin.web.request import Page, PageRequest
from meijin.wire.json import json_text
from meijin.wire.run_notes import draws_note, foretold_note, width_note
from meijin.wire.standings import (
    COLUMNS,
    MARKS,
    Column,
    Mark,
    marks,
    standings_csv,
    verify_line,
)

LEFT = ("rank", "elo", "margin", "bot")
"""The columns that stand beside the bars; the others follow."""

HOSTED = "hosted"
"""The column that is a chip beside the bot."""

ROWS = 1000
"""Of a table; the others are on further pages."""

MAX_AGE = timedelta(seconds=5)
"""Of a table: one of 1,000 lines takes a tenth of a second to write."""

TOP = 10
"""Lines of the best on the front page."""

WIDTH = 200
"""Of a bar's picture."""
STEP = 50
"""Elo; the scale of bars ends on multiples of it."""
MEAN = 1500


@dataclass(frozen=True, slots=True)
class IntervalBar:
    """A line's 95 % interval as its picture has it."""

    start: int
    length: int
    elo: int
    """Where the rating itself is."""


@dataclass(frozen=True, slots=True)
class IntervalScale:
    """The ratings that bars are drawn between."""

    low: int
    high: int

    @classmethod
    def of(cls, rows: Sequence[pb.Standing]) -> Self:
        """One on which all ratings, and the intervals of the established, are whole.

        Where nobody is established all intervals are.
        """
        sure = [row for row in rows if row.linked and not row.provisional] or rows
        ends = [row.elo for row in rows]
        ends += [row.elo - row.margin for row in sure] + [row.elo + row.margin for row in sure]
        if not ends:
            return cls(MEAN - STEP, MEAN + STEP)
        low, high = int(min(ends) // STEP), int(-(-max(ends) // STEP))
        return cls(low * STEP, max(high, low + 1) * STEP)

    @property
    def mean(self) -> int | None:
        """Where 1500 is; ``None`` where that is off the scale."""
        return self._place(MEAN) if self.low <= MEAN <= self.high else None

    def bar(self, row: pb.Standing) -> IntervalBar:
        """A line's bar; an interval that ends off the scale, or has one end alone, is cut."""
        low, high = row.elo - row.margin, row.elo + row.margin
        if row.HasField("bound"):
            has_won = row.as_black.wins + row.as_white.wins > 0
            low, high = (row.bound, self.high) if has_won else (self.low, row.bound)
        start, end = self._place(low), self._place(high)
        return IntervalBar(start, max(end - start, 1), self._place(row.elo))

    def _place(self, elo: float) -> int:
        share = (elo - self.low) / (self.high - self.low)
        return round(WIDTH * min(max(share, 0.0), 1.0))


@dataclass(frozen=True)
class TableView:
    """A page of a table with the lines that are chosen of it."""

    table: pb.GetStandingsResponse
    choice: TableChoice
    number: int
    """Of the page, from 1 on."""

    @cached_property
    def found(self) -> Sequence[pb.Standing]:
        """The lines on all pages."""
        return self.choice.lines(self.table.standings)

    @cached_property
    def lines(self) -> Sequence[pb.Standing]:
        """Those of this page."""
        return self.found[(self.number - 1) * ROWS : self.number * ROWS]

    @property
    def pages(self) -> int:
        return max(1, -(-len(self.found) // ROWS))

    @cached_property
    def columns(self) -> Mapping[Column, Sequence[str]]:
        """The columns that say something, with what they say of each line."""
        right = (column for name, column in COLUMNS.items() if name not in {*LEFT, HOSTED})
        cells = {column: [column.cell(line) for line in self.lines] for column in right}
        return {column: texts for column, texts in cells.items() if any(texts)}

    @property
    def rows(self) -> Iterable[tuple[pb.Standing, Sequence[str]]]:
        """The lines of this page with their cells."""
        return zip(self.lines, zip(*self.columns.values(), strict=True), strict=True)

    @cached_property
    def scale(self) -> IntervalScale:
        return IntervalScale.of(self.table.standings)

    @cached_property
    def versions(self) -> Mapping[str, int]:
        """How many lines a bot has, which has its versions named if they are several."""
        return Counter(line.bot for line in self.lines)

    @property
    def marks(self) -> Sequence[Mark]:
        """Those that a line has."""
        has = {letter for line in self.lines for letter in marks(line)}
        return [mark for mark in MARKS.values() if mark.letter in has]


async def show(request: PageRequest) -> LazyPage:
    choice, number = choice_of(request), request.number("page", 1, least=1, most=1000)
    table, names = await asyncio.gather(
        whole_table(request.services, choice.request(request.path["name"])),
        ladder_names(request.services),
    )
    return request.page(
        "ladders/table.html",
        table=table,
        names=names,
        query=query_of(request),
        view=partial(TableView, table, choice, number),
        name=LadderName.parse(table.ladder.name),
        choice=choice,
        only=tuple(LineFilter),
        runners=tuple(Runner),
        left=[COLUMNS[name] for name in LEFT],
        first_of=Order.first_of,
        marks_of=marks,
        verify=verify_line,
        draws_note=draws_note,
        foretold_note=foretold_note,
        width_note=width_note,
    )


async def _chosen(request: PageRequest) -> tuple[pb.GetStandingsResponse, TableChoice]:
    choice = choice_of(request)
    return await whole_table(request.services, choice.request(request.path["name"])), choice


async def show_csv(request: PageRequest) -> LazyPage:
    table, choice = await _chosen(request)
    return csv_text(table.ladder.name, lambda: standings_csv(choice.lines(table.standings)), table)


async def show_json(request: PageRequest) -> LazyPage:
    """The same as a message of the contract in JSON."""
    table, choice = await _chosen(request)

    def write() -> str:
        run = table.run if table.HasField("run") else None
        lines = choice.lines(table.standings)
        chosen = pb.GetStandingsResponse(ladder=table.ladder, run=run, standings=lines)
        return json_text(chosen)

    return json_file(write, table)


async def read_top(
    services: Services, ladders: Sequence[pb.Ladder]
) -> pb.GetStandingsResponse | None:
    """The best of the ladder that has most games; ``None`` before the first run of any."""
    rated = [each for each in ladders if each.HasField("run_create_time")]
    if not rated:
        return None
    busiest = max(rated, key=lambda each: each.games)
    request = pb.GetStandingsRequest(ladder=busiest.name, page_size=TOP)
    return await services.ladders.GetStandings(request)


ROUTES = (
    Page("/ladders/{name}.csv", show_csv, MAX_AGE),
    Page("/ladders/{name}.json", show_json, MAX_AGE),
    Page("/ladders/{name}", show, MAX_AGE),
)

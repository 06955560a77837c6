"""Tables: columns by the fields of a message, and what stands in their cells."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import attrgetter, itemgetter
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp
from rich.console import JustifyMethod
from rich.table import Table

from meijin.v1 import ladder_service_pb2 as pb
from meijin.wire.enums import WireEnum, word_of
from meijin.wire.standings import added, games_of, results, share_text
from meijin.wire.text import minute_text


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of numbers, or of text."""

    title: str
    cell: Callable[[Any], object]
    """Of a row."""
    is_text: bool = False
    no_wrap: bool = False


def number(title: str, cell: str | Callable[[Any], object] = "") -> TableColumn:
    """A column of a field, which is called as the title when left out, or of a function's."""
    return TableColumn(title, cell if callable(cell) else attrgetter(cell or title))


def text(
    title: str, cell: str | Callable[[Any], object] = "", *, no_wrap: bool = False
) -> TableColumn:
    """The same of words, which stand on the left."""
    plain = number(title, cell)
    return TableColumn(title, plain.cell, is_text=True, no_wrap=no_wrap)


def table(title: str, columns: Iterable[TableColumn], rows: Iterable[Any]) -> Table:
    made = Table(title=title, title_justify="default", title_style="bold", box=None, pad_edge=False)
    shown = list(columns)
    for column in shown:
        justify: JustifyMethod = "left" if column.is_text else "right"
        made.add_column(column.title, justify=justify, no_wrap=column.no_wrap)
    for row in rows:
        made.add_row(*(str(column.cell(row)) for column in shown))
    return made


def color_table(title: str, rows: Iterable[tuple[str, pb.Score, str]], *more: TableColumn) -> Table:
    """What was scored with each colour; further columns are made of the third in a row."""
    columns = (
        text("as", itemgetter(0)),
        number("games", lambda row: games_of(row[1])),
        number("W-D-L", lambda row: results(row[1])),
        number("score", lambda row: share_text(row[1])),
    )
    return table(title, (*columns, *more), rows)


def score_table(title: str, what: str, rows: Iterable[tuple[str, pb.ColorScores]]) -> Table:
    columns = (
        text(what, itemgetter(0)),
        number("games", lambda row: games_of(both(row[1]))),
        number("black", lambda row: results(row[1].as_black)),
        number("white", lambda row: results(row[1].as_white)),
        number("score", lambda row: share_text(both(row[1]))),
    )
    return table(title, columns, rows)


def both(scores: Any) -> pb.Score:  # noqa: ANN401 - any message with these fields
    return added(scores.as_black, scores.as_white)


def time_of(field: str, absent: str | None = None) -> Callable[[Any], str]:
    """A cell of an instant to the minute, in UTC; with a word for one that is absent."""

    def cell(row: Any) -> str:  # noqa: ANN401 - any message
        if absent is not None and not row.HasField(field):
            return absent
        return f"{getattr(row, field).ToDatetime():%Y-%m-%d %H:%M}"

    return cell


def minutes_east(time: datetime) -> int:
    """How far east of UTC the zone of a time is, which is this machine's where it has none."""
    offset = time.astimezone(time.tzinfo).utcoffset()
    assert offset is not None
    return offset // timedelta(minutes=1)


def local_time(time: Timestamp) -> str:
    """An instant to the minute in this machine's zone, which is told with it."""
    local = time.ToDatetime(UTC).astimezone()
    return minute_text(local, minutes_east(local))


def word(field: str, mirror: WireEnum[Any]) -> Callable[[Any], str]:
    return lambda row: word_of(mirror, getattr(row, field))


_UNITS = (
    ("d", timedelta(days=1)),
    ("h", timedelta(hours=1)),
    ("min", timedelta(minutes=1)),
    ("s", timedelta(seconds=1)),
)


def duration_text(duration: timedelta, parts: int = 2) -> str:
    """A duration in its largest units, such as ``2 h 5 min``."""
    found = []
    for name, unit in _UNITS:
        count, duration = divmod(max(duration, timedelta(0)), unit)
        if count:
            found.append(f"{count} {name}")
    return " ".join(found[:parts]) or "0 s"


def count_text(games: int) -> str:
    return "1 game" if games == 1 else f"{games} games"

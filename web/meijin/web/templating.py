"""The templates, and how values are written in them."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from meijin.game.records.chances import wins_in
from meijin.web.labels import (
    ending_label,
    evidence,
    label,
    outcome_of,
    result_label,
    time_control_label,
    variant_label,
    word,
    words,
)
from meijin.web.static import StaticFiles
from meijin.web.wording import text
from meijin.wire.standings import COLUMNS, MARKS
from meijin.wire.text import memory_text

FOLDER = Path(__file__).parent / "templates"

_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)
"""Control characters, and marks that turn the direction of what stands around them."""

MINUS = "\N{MINUS SIGN}"

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def environment(static: StaticFiles, shown: Callable[[str], str]) -> Environment:
    """The templates of the pages; values are escaped, and stripped of what can't be shown.

    Args:
        shown: What people call a bot of a name.
    """
    templates = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=_plain,
    )
    templates.globals |= {"t": text, "static": static.url, "columns": COLUMNS, "marks": MARKS}
    templates.filters |= {filter_.__name__: filter_ for filter_ in FILTERS}
    templates.filters["shown"] = shown
    return templates


def plain(value: str) -> str:
    """A text without control characters and marks of direction."""
    return _UNPRINTABLE.sub("", value)


def when(value: Timestamp | datetime) -> Markup:
    """An instant in UTC, to the second, for people and for programs."""
    instant = value.ToDatetime(UTC) if isinstance(value, Timestamp) else value.astimezone(UTC)
    machine = instant.strftime("%Y-%m-%dT%H:%M:%SZ")
    return Markup('<time datetime="{}">{}</time>').format(
        machine, instant.strftime("%Y-%m-%d %H:%M:%S UTC")
    )


def number(value: float, digits: int = 0) -> str:
    """A number with its thousands apart."""
    return f"{value:,.{digits}f}"


def signed(value: float, digits: int = 0) -> str:
    """A number with its sign, whatever it is; nought is never negative."""
    return f"{round(value, digits) + 0.0:+,.{digits}f}".replace("-", MINUS)


def score(value: int | None) -> str:
    """A score as a bot has told it; a proven win by its moves, such as ``#3``."""
    if value is None:
        return "\N{EN DASH}"
    moves = wins_in(value)
    return signed(value) if moves is None else f"{MINUS if moves < 0 else ''}#{abs(moves)}"


def percent(value: float, digits: int = 1) -> str:
    """A share, 0 to 1, in percent."""
    return f"{100 * value:.{digits}f} %"


def duration(value: Duration | timedelta) -> str:
    """A time span, in the units that suit its length."""
    span = value.ToTimedelta() if isinstance(value, Duration) else value
    seconds = span.total_seconds()
    if span < MINUTE:
        return f"{seconds:.3g} s"
    if span < HOUR:
        return f"{int(seconds // 60)} min {seconds % 60:.0f} s"
    if span < DAY:
        return f"{int(seconds // 3600)} h {seconds % 3600 / 60:.0f} min"
    return f"{span.days} d {seconds % 86400 / 3600:.0f} h"


FILTERS = (
    when,
    number,
    signed,
    score,
    percent,
    duration,
    word,
    words,
    label,
    variant_label,
    time_control_label,
    ending_label,
    result_label,
    outcome_of,
    evidence,
    memory_text,
)


def _plain(value: object) -> object:
    """What a template shows of a value: markup as it is, a text without what can't be shown."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return plain(value)
    return value

"""Charts: what `charts.js` draws, as pages hand it over."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from markupsafe import Markup

from meijin.v1 import ladder_service_pb2 as pb
from meijin.web.replay.page_parts import embedded
from meijin.web.templating import plain

DIGITS = 1
"""Of Elo in a chart behind the point, which nobody sees more of."""

Values = Sequence[float | None]
"""One for each place on the x axis; ``None`` for none."""


@dataclass(frozen=True, slots=True)
class ChartSeries:
    """One line of a chart."""

    label: str
    values: Values
    low: Values | None = None
    """The lower edge of its band."""
    high: Values | None = None
    """The upper edge."""
    kind: Literal["line", "steps", "bars", "points"] = "line"
    is_quiet: bool = False
    """In the colour of what is beside the point."""


@dataclass(frozen=True, slots=True)
class ChartMark:
    """A line across a chart."""

    value: float
    label: str


@dataclass(frozen=True, slots=True)
class ChartData:
    """A chart: lines over one x axis."""

    label: str
    """What it shows, for screen readers."""
    x: Sequence[float]
    """Ascending; seconds since 1970 where the axis is one of time."""
    x_label: str
    y_label: str
    series: Sequence[ChartSeries]
    is_time: bool = False
    digits: int = 0
    """Of values behind the point."""
    least: float | None = None
    """The lower end of the y axis; that of the values where nothing is said."""
    most: float | None = None
    """The upper end."""
    marks: Sequence[ChartMark] = ()

    @property
    def json(self) -> Markup:
        """What stands in the chart's script: no text in it ends the element."""
        data = {
            "label": plain(self.label),
            "x": list(self.x),
            "xLabel": plain(self.x_label),
            "yLabel": plain(self.y_label),
            "time": self.is_time,
            "digits": self.digits,
            "range": [self.least, self.most],
            "marks": [{"value": mark.value, "label": plain(mark.label)} for mark in self.marks],
            "series": [_series(each) for each in self.series],
        }
        return Markup(embedded(data))  # noqa: S704 - escaped for a script


def rating_chart(
    curves: Sequence[tuple[str, Sequence[pb.DayRating]]],
    *,
    label: str,
    x_label: str,
    y_label: str,
) -> ChartData:
    """Ratings over days or runs, each curve with its name and its 95 % intervals."""
    times = sorted({rated_time(rating) for _, curve in curves for rating in curve})
    return ChartData(
        label=label,
        x=times,
        x_label=x_label,
        y_label=y_label,
        series=[_curve(name, curve, times) for name, curve in curves],
        is_time=True,
    )


def rated_time(rating: pb.DayRating) -> float:
    """When a rating was so, in seconds since 1970: the day, or the run's own time."""
    if rating.HasField("create_time"):
        return rating.create_time.seconds
    return datetime.fromisoformat(rating.day).replace(tzinfo=UTC).timestamp()


def _curve(name: str, curve: Sequence[pb.DayRating], times: Sequence[float]) -> ChartSeries:
    rated = {rated_time(rating): rating for rating in curve}

    def values(side: int) -> list[float | None]:
        """The rating and this many margins, by time."""
        found = map(rated.get, times)
        return [each and round(each.elo + side * each.margin, DIGITS) for each in found]

    return ChartSeries(name, values(0), values(-1), values(1))


def _series(series: ChartSeries) -> dict[str, object]:
    made: dict[str, object] = {
        "label": plain(series.label),
        "values": list(series.values),
        "kind": series.kind,
        "quiet": series.is_quiet,
    }
    if series.low is not None and series.high is not None:
        made |= {"low": list(series.low), "high": list(series.high)}
    return made


@dataclass(frozen=True, slots=True)
class Sparkline:
    """A small line without axes."""

    path: str
    """Of SVG."""
    end: tuple[float, float]
    """Where it ends."""
    first: float
    """The value that it begins with."""
    last: float


SPARK_WIDTH, SPARK_HEIGHT, SPARK_MARGIN = 320, 64, 6
LEAST_SPAN = 40
"""Elo: less than that fills no picture."""


def sparkline(ratings: Sequence[pb.DayRating]) -> Sparkline | None:
    """How a bot's rating went, from day to day or run to run; ``None`` for no line.

    It is that of the newest version at each time.

    Args:
        ratings: The newest time and version first.
    """
    newest: dict[float, float] = {}
    for rating in ratings:
        newest.setdefault(rated_time(rating), rating.elo)
    if len(newest) < 2:  # noqa: PLR2004 - a line has two ends
        return None
    values = [elo for _, elo in sorted(newest.items())]
    middle, span = (min(values) + max(values)) / 2, max(max(values) - min(values), LEAST_SPAN)
    step = (SPARK_WIDTH - 2 * SPARK_MARGIN) / (len(values) - 1)
    height = SPARK_HEIGHT - 2 * SPARK_MARGIN
    places = [
        (
            round(SPARK_MARGIN + step * number, 1),
            round(SPARK_HEIGHT / 2 - height * (elo - middle) / span, 1),
        )
        for number, elo in enumerate(values)
    ]
    path = "M" + "L".join(f"{x:g} {y:g}" for x, y in places)
    return Sparkline(path, places[-1], values[0], values[-1])

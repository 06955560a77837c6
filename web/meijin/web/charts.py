"""Charts: what `charts.js` draws, as pages hand it over."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from meijin.web.templating import plain

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
        text = json.dumps(data, separators=(",", ":"), allow_nan=False)
        return Markup(text.translate(_ESCAPES))  # noqa: S704 - escaped for a script


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


_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})

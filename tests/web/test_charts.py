"""Charts as pages hand them to the browser."""

import json

import pytest

from meijin.v1 import ladder_service_pb2 as ladder_pb
from meijin.web.charts import ChartData, ChartMark, ChartSeries, rating_chart, sparkline
from meijin.web.static import StaticFiles
from meijin.web.templating import environment


def chart(label: str, value: float = 1.5) -> ChartData:
    series = ChartSeries(label, [value, None], low=[1.0, None], high=[2.0, None])
    return ChartData(label, [0, 86400], "Day", "Elo", [series], marks=[ChartMark(0.0, label)])


def test_no_text_ends_the_script() -> None:
    """Names of others stand in it, and are the same when it is read."""
    source = '{% import "charts.html" as charts %}{{ charts.chart("x", data) }}'
    page = (
        environment(StaticFiles(), str).from_string(source).render(data=chart("</script><!-- & é"))
    )
    script = page.partition('id="x">')[2].partition("</script>")[0]
    assert "<" not in script
    assert json.loads(script)["series"][0]["label"] == "</script><!-- & é"


def test_texts_turn_no_direction() -> None:
    """Control characters and marks of direction are left out."""
    assert json.loads(chart("a\u202eb\x00").json)["label"] == "ab"


def test_what_json_has_no_number_for_is_refused() -> None:
    """A browser would read nothing at all of it."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        _ = chart("x", float("nan")).json


def test_history_has_a_line_for_each_version() -> None:
    """Over the days of all of them, with its band."""
    curves = [
        ("2.0", [pb_day("2026-01-03", "2.0", 1600.04), pb_day("2026-01-02", "2.0", 1590)]),
        ("old", [pb_day("2026-01-02", "", 1500), pb_day("2026-01-01", "", 1490)]),
    ]
    chart = rating_chart(curves, label="history", x_label="day", y_label="Elo")
    assert [int(x) % 86400 for x in chart.x] == [0, 0, 0]
    assert list(chart.x) == sorted(chart.x)
    newer, older = chart.series
    assert (newer.label, list(newer.values)) == ("2.0", [None, 1590, 1600])
    assert newer.high is not None
    assert list(newer.high) == [None, 1600, 1610]
    assert (older.label, list(older.values)) == ("old", [1490, 1500, None])


def test_sparkline_follows_the_newest_version() -> None:
    """From left to right within its picture, higher ratings higher; two times are needed."""
    days = [pb_day("2026-01-04", "2.0", 1600), pb_day("2026-01-04", "1.0", 1000)]
    assert sparkline(days) is None
    line = sparkline([*days, pb_day("2026-01-02", "1.0", 1500), pb_day("2026-01-01", "1.0", 1550)])
    assert line is not None
    assert (line.first, line.last) == (1550, 1600)
    places = [tuple(map(float, place.split())) for place in line.path[1:].split("L")]
    assert [x for x, _ in places] == [6, 160, 314]
    assert [y for _, y in places] == [32, 58, 6]
    assert line.end == places[-1]


def test_ratings_by_run_have_their_own_times() -> None:
    """Several a day."""
    runs = [pb_day("2026-01-01", "1.0", 1500), pb_day("2026-01-01", "1.0", 1520)]
    for seconds, run in zip((60, 120), runs, strict=True):
        run.create_time.seconds = seconds
    chart = rating_chart([("1.0", runs)], label="history", x_label="day", y_label="Elo")
    assert list(chart.x) == [60, 120]
    assert list(chart.series[0].values) == [1500, 1520]


def pb_day(day: str, version: str, elo: float) -> ladder_pb.DayRating:
    return ladder_pb.DayRating(day=day, version=version, elo=elo, margin=10)

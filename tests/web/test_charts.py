"""Charts as pages hand them to the browser."""

import json

import pytest

from meijin.web.charts import ChartData, ChartMark, ChartSeries
from meijin.web.static import StaticFiles
from meijin.web.templating import environment


def chart(label: str, value: float = 1.5) -> ChartData:
    """A chart of one series."""
    series = ChartSeries(label, [value, None], low=[1.0, None], high=[2.0, None])
    return ChartData(label, [0, 86400], "Day", "Elo", [series], marks=[ChartMark(0.0, label)])


def test_no_text_ends_the_script() -> None:
    """Names of others stand in it, and are the same when it is read."""
    source = '{% import "charts.html" as charts %}{{ charts.chart("x", data) }}'
    page = environment(StaticFiles()).from_string(source).render(data=chart("</script><!-- & é"))
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

"""How true a ladder's expected scores have been: what was told of games, and what they came to."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import partial

from meijin.v1 import ladder_service_pb2 as pb
from meijin.web.cache import LazyPage
from meijin.web.charts import ChartData, ChartSeries
from meijin.web.pages.ladders.names import LadderName
from meijin.web.pages.ladders.reading import as_json, csv_file
from meijin.web.request import Page, PageRequest
from meijin.web.wording import text

COLUMNS = ("low", "high", "games", "expected_score", "score", "score_low", "score_high")
DIGITS = 1
"""Of per cents."""
MAX_AGE = timedelta(seconds=10)


async def _calibration(request: PageRequest) -> pb.GetCalibrationResponse:
    asked = pb.GetCalibrationRequest(ladder=request.path["name"])
    return await request.services.ladders.GetCalibration(asked)


async def show(request: PageRequest) -> LazyPage:
    """Show what favourites were told to score, and what they scored."""
    found = await _calibration(request)
    return request.page(
        "ladders/calibration.html",
        found=found,
        name=LadderName.parse(found.ladder),
        chart_of=chart_of,
    )


def chart_of(found: pb.GetCalibrationResponse) -> ChartData:
    """The scores with their intervals over what was told, and the line on which all should lie."""

    def percents(field: str) -> list[float]:
        return [round(100 * getattr(each, field), DIGITS) for each in found.bins]

    told = percents("expected_score")
    scored = ChartSeries(
        text("ladders.calibration.score"),
        percents("score"),
        percents("score_low"),
        percents("score_high"),
        kind="points",
    )
    return ChartData(
        label=text("ladders.calibration.chart", ladder=found.ladder),
        x=told,
        x_label=text("ladders.calibration.told"),
        y_label=text("ladders.calibration.score"),
        series=[scored, ChartSeries(text("ladders.calibration.told"), told, is_quiet=True)],
        digits=DIGITS,
        most=100,
    )


async def show_csv(request: PageRequest) -> LazyPage:
    found = await _calibration(request)
    return csv_file(f"{found.ladder}-calibration", partial(_rows, found), found)


def _rows(found: pb.GetCalibrationResponse) -> Iterator[Sequence[object]]:
    yield COLUMNS
    for each in found.bins:
        yield [getattr(each, column) for column in COLUMNS]


ROUTES = (
    Page("/ladders/{name}/calibration.csv", show_csv, MAX_AGE),
    Page("/ladders/{name}/calibration.json", as_json(_calibration), MAX_AGE),
    Page("/ladders/{name}/calibration", show, MAX_AGE),
)

"""Charts of a test: how its ratio and its estimate moved."""

from collections.abc import Sequence

from meijin.v1 import tournament_service_pb2 as pb
from meijin.web.charts import ChartData, ChartMark, ChartSeries
from meijin.web.wording import text

EARLY = 10
"""What share of a test's games has estimates that are too wide to be drawn: one in so many."""


def llr_chart(path: pb.ListTestPointsResponse) -> ChartData:
    """The ratio between its bounds."""
    return ChartData(
        label=text("tournament.path_caption"),
        x=[point.games for point in path.points],
        x_label=text("tournament.games_played"),
        y_label=text("tournament.llr"),
        series=[
            ChartSeries(text("tournament.llr"), [round(point.llr, 3) for point in path.points])
        ],
        digits=2,
        marks=[
            ChartMark(path.lower, text("tournament.accepts_first")),
            ChartMark(path.upper, text("tournament.accepts_second")),
        ],
    )


def elo_chart(path: pb.ListTestPointsResponse) -> ChartData:
    """The estimate with its interval."""
    points = _drawn(path.points)
    elo = ChartSeries(
        text("tournament.elo"),
        [round(point.elo, 1) for point in points],
        [round(point.elo_low, 1) for point in points],
        [round(point.elo_high, 1) for point in points],
    )
    return ChartData(
        label=text("tournament.elo_path_caption"),
        x=[point.games for point in points],
        x_label=text("tournament.games_played"),
        y_label=text("tournament.elo"),
        series=[elo],
        digits=1,
        marks=[ChartMark(0, "")],
    )


def _drawn(points: Sequence[pb.TestPoint]) -> list[pb.TestPoint]:
    """The points with an estimate, from where that tells something."""
    first = points[-1].games / EARLY if points else 0
    return [point for point in points if point.HasField("elo") and point.games >= first]

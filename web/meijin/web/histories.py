"""Rating histories: the days of a bot's versions, as a chart has them."""

from collections.abc import Sequence
from datetime import UTC, datetime

from meijin.v1 import ladder_service_pb2 as pb
from meijin.web.charts import ChartData, ChartSeries
from meijin.web.wording import text

DIGITS = 1
"""Of Elo in a chart behind the point, which nobody sees more of."""


def rating_chart(ratings: Sequence[pb.DayRating], ladder: str) -> ChartData:
    """The ratings of a bot's versions by days, each version as a line with its band."""
    days = sorted({rating.day for rating in ratings})
    versions = dict.fromkeys(rating.version for rating in ratings)
    return ChartData(
        label=text("bot.history_caption", ladder=ladder),
        x=[datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC).timestamp() for day in days],
        x_label=text("bot.day"),
        y_label=text("bots.elo"),
        series=[_series(version, ratings, days) for version in versions],
        is_time=True,
    )


def _series(version: str, ratings: Sequence[pb.DayRating], days: Sequence[str]) -> ChartSeries:
    rated = {rating.day: rating for rating in ratings if rating.version == version}

    def values(side: int) -> list[float | None]:
        """The rating and so many margins, by day."""
        found = (rated.get(day) for day in days)
        return [
            None if each is None else round(each.elo + side * each.margin, DIGITS) for each in found
        ]

    return ChartSeries(version or text("bot.unnamed"), values(0), values(-1), values(1))

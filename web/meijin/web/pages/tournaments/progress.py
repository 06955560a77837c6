"""How far a tournament is: its pace, its newest rounds, and the path of its test."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby

from meijin.v1 import game_pb2
from meijin.v1 import tournament_service_pb2 as pb
from meijin.web.charts import ChartData, ChartMark, ChartSeries
from meijin.web.wording import text

HOUR = timedelta(hours=1)

LONGEST = timedelta(days=365)
"""Further ahead than this no end is told."""

EARLY = 10
"""What share of a test's games has estimates that are too wide to be drawn: one in this many."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast games of a tournament end."""

    games_an_hour: float
    """Since it was made."""
    end: datetime | None
    """Of the last planned game at this pace; ``None`` where none is in sight."""


def pace_of(tournament: pb.Tournament, last_end: datetime | None) -> Pace | None:
    """The pace of a tournament; ``None`` before its first result.

    Args:
        last_end: When its newest result came.
    """
    if last_end is None or not tournament.finished_games:
        return None
    span = last_end - tournament.create_time.ToDatetime(UTC)
    if span <= timedelta(0):
        return None
    return Pace(tournament.finished_games * (HOUR / span), _end(tournament, last_end, span))


def last_end(tournament: pb.Tournament, ended: Iterable[game_pb2.Game]) -> datetime | None:
    """When the newest result came, as far as the newest games with one tell."""
    if tournament.HasField("end_time"):
        return tournament.end_time.ToDatetime(UTC)
    return max((game.end_time.ToDatetime(UTC) for game in ended), default=None)


def _end(tournament: pb.Tournament, last_end: datetime, span: timedelta) -> datetime | None:
    missing = tournament.planned_games - tournament.finished_games
    if tournament.state != pb.TOURNAMENT_STATE_RUNNING or missing <= 0:
        return None
    share = missing / tournament.finished_games
    return last_end + share * span if share * (span / LONGEST) < 1 else None


def leaders(standings: Iterable[pb.TournamentStanding]) -> list[pb.TournamentStanding]:
    """Those who share the first place; nobody before the first result."""
    return [each for each in standings if each.rank == 1 and each.games]


@dataclass(frozen=True, slots=True)
class TournamentRound:
    """The meetings of one round."""

    number: int
    meetings: tuple[pb.Meeting, ...]
    is_final: bool
    """Its winner goes on to no other meeting."""


def rounds_of(meetings: Iterable[pb.Meeting], *, most: int) -> tuple[TournamentRound, ...]:
    """The newest rounds, in their order, of at most this many meetings but for the newest."""
    grouped = [(number, tuple(each)) for number, each in groupby(meetings, lambda row: row.round)]
    shown: list[TournamentRound] = []
    room = most
    for number, each in reversed(grouped):
        room -= len(each)
        if shown and room < 0:
            break
        shown.append(TournamentRound(number, each, is_final=len(each) == 1 and not each[0].next))
    return tuple(reversed(shown))


def llr_chart(path: pb.ListTestPointsResponse) -> ChartData:
    """The ratio of a test between its bounds."""
    values = [round(point.llr, 3) for point in path.points]
    lower = ChartMark(path.lower, text("tournament.accepts_first"))
    upper = ChartMark(path.upper, text("tournament.accepts_second"))
    return ChartData(
        label=text("tournament.path_caption"),
        x=[point.games for point in path.points],
        x_label=text("tournament.games_played"),
        y_label=text("tournament.llr"),
        series=[ChartSeries(text("tournament.llr"), values)],
        digits=2,
        marks=[lower, upper],
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

"""The pace of a tournament: games an hour, and when it may end at that."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from meijin.v1 import tournament_service_pb2 as pb

HOUR = timedelta(hours=1)

LONGEST = timedelta(days=365)
"""Further ahead than this no end is told."""


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


def _end(tournament: pb.Tournament, last_end: datetime, span: timedelta) -> datetime | None:
    missing = tournament.planned_games - tournament.finished_games
    if tournament.state != pb.TOURNAMENT_STATE_RUNNING or missing <= 0:
        return None
    share = missing / tournament.finished_games
    return last_end + share * span if share * (span / LONGEST) < 1 else None

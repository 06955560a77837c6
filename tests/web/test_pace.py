"""The pace of tournaments."""

from datetime import UTC, datetime, timedelta

import pytest

from meijin.v1 import tournament_service_pb2 as pb
from meijin.web.pace import pace_of

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


def tournament(finished: int, planned: int) -> pb.Tournament:
    """One that was made at noon and is running."""
    made = pb.Tournament(
        finished_games=finished, planned_games=planned, state=pb.TOURNAMENT_STATE_RUNNING
    )
    made.create_time.FromDatetime(NOON)
    return made


def test_end_is_told_by_the_pace_so_far() -> None:
    """Ten games in half an hour: thirty more take an hour and a half."""
    pace = pace_of(tournament(10, 40), NOON + timedelta(minutes=30))
    assert pace is not None
    assert (pace.games_an_hour, pace.end) == (20, NOON + timedelta(hours=2))


@pytest.mark.parametrize(("finished", "planned"), [(40, 40), (10, 0), (1, 10**6)])
def test_no_end_is_in_sight(finished: int, planned: int) -> None:
    """Without games to come, without a bound, or further ahead than anybody can tell."""
    pace = pace_of(tournament(finished, planned), NOON + timedelta(hours=1))
    assert pace is not None
    assert pace.end is None


def test_ended_tournament_has_no_end_to_come() -> None:
    """One that was cancelled."""
    ended = tournament(1, 2)
    ended.state = pb.TOURNAMENT_STATE_CANCELLED
    pace = pace_of(ended, NOON + timedelta(hours=1))
    assert pace is not None
    assert pace.end is None


@pytest.mark.parametrize("last_end", [None, NOON, NOON - timedelta(hours=1)])
def test_no_pace_before_time_has_passed(last_end: datetime | None) -> None:
    """Nor where clocks were set back."""
    assert pace_of(tournament(1, 2), last_end) is None

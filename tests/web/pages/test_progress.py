"""How far a tournament is: its pace, its rounds, and the path of its test."""

from datetime import UTC, datetime, timedelta

import pytest

from meijin.v1 import tournament_service_pb2 as pb
from meijin.web.pages.tournaments.progress import elo_chart, llr_chart, pace_of, rounds_of

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
HALF_HOUR, HOUR = timedelta(minutes=30), timedelta(hours=1)
RUNNING, CANCELLED = pb.TOURNAMENT_STATE_RUNNING, pb.TOURNAMENT_STATE_CANCELLED
MEETINGS = [
    pb.Meeting(round=1, number=1, next=3),
    pb.Meeting(round=1, number=2, next=3),
    pb.Meeting(round=2, number=3),
]


def tournament(
    finished: int, planned: int, state: pb.TournamentState.ValueType = RUNNING
) -> pb.Tournament:
    made = pb.Tournament(finished_games=finished, planned_games=planned, state=state)
    made.create_time.FromDatetime(NOON)
    return made


@pytest.mark.parametrize(
    ("told", "span", "pace", "end"),
    [
        (tournament(10, 40), HALF_HOUR, 20, NOON + timedelta(hours=2)),
        (tournament(40, 40), HOUR, 40, None),  # no games to come
        (tournament(10, 0), HOUR, 10, None),  # no bound
        (tournament(1, 10**6), HOUR, 1, None),  # further ahead than anybody can tell
        (tournament(1, 2, CANCELLED), HOUR, 1, None),
    ],
)
def test_end_is_told_by_the_pace_so_far(
    told: pb.Tournament, span: timedelta, pace: float, end: datetime | None
) -> None:
    found = pace_of(told, NOON + span)
    assert found is not None
    assert (found.games_an_hour, found.end) == (pace, end)


@pytest.mark.parametrize("last_end", [None, NOON, NOON - HOUR])
def test_no_pace_before_time_has_passed(last_end: datetime | None) -> None:
    """Nor where clocks were set back."""
    assert pace_of(tournament(1, 2), last_end) is None


def test_rounds_in_their_order() -> None:
    """The last one is the final; the oldest are left out where they are too many."""
    first, final = rounds_of(MEETINGS, most=10)
    assert (first.number, len(first.meetings), first.is_final) == (1, 2, False)
    assert (final.number, final.is_final) == (2, True)
    for most in (2, 0):
        assert [each.number for each in rounds_of(MEETINGS, most=most)] == [2]
    assert rounds_of([], most=5) == ()


def test_chart_of_a_test_without_results() -> None:
    """Has its bounds and nothing else."""
    path = pb.ListTestPointsResponse(lower=-2.9, upper=2.9)
    assert not llr_chart(path).x
    assert [mark.value for mark in llr_chart(path).marks] == [-2.9, 2.9]
    assert not elo_chart(path).x


def test_first_estimates_are_left_out() -> None:
    """They are too wide to see the others beside them."""
    points = [pb.TestPoint(games=games, elo=games) for games in (1, 5, 10, 100)]
    points[2].ClearField("elo")
    assert list(elo_chart(pb.ListTestPointsResponse(points=points)).x) == [100]
    assert list(elo_chart(pb.ListTestPointsResponse(points=points[:2])).x) == [1, 5]

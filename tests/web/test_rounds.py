"""Rounds of tournaments."""

from meijin.v1 import tournament_service_pb2 as pb
from meijin.web.rounds import rounds_of

MEETINGS = [
    pb.Meeting(round=1, number=1, next=3),
    pb.Meeting(round=1, number=2, next=3),
    pb.Meeting(round=2, number=3),
]


def test_rounds_in_their_order() -> None:
    """The last one is the final."""
    first, final = rounds_of(MEETINGS, most=10)
    assert (first.number, len(first.meetings), first.is_final) == (1, 2, False)
    assert (final.number, final.is_final) == (2, True)


def test_oldest_rounds_are_left_out() -> None:
    """Where they are too many; the newest is always there."""
    assert [each.number for each in rounds_of(MEETINGS, most=2)] == [2]
    assert [each.number for each in rounds_of(MEETINGS, most=0)] == [2]
    assert rounds_of([], most=5) == ()

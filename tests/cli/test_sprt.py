"""Where a test stands, in words, and the status that a match of it ends with."""

from __future__ import annotations

from meijin.cli.sprt import EXIT_STATUS, standing_line
from meijin.v1 import tournament_service_pb2 as pb

STANDING = pb.SprtStanding(wins=3, draws=1, losses=2, pairs=[0, 1, 1, 0, 1], llr=0.5, lower=-2.94)


def test_repeats_are_told_where_there_are_any() -> None:
    """Beside the games that count."""
    line = "LLR 0.50 (-2.94, 0.00)  games 6  pairs 0-1-1-0-1"
    assert standing_line(STANDING) == line
    repeated = pb.SprtStanding(repeats=40)
    repeated.MergeFrom(STANDING)
    assert standing_line(repeated) == line.replace("games 6", "games 6  repeats left out 40")


def test_each_undecided_end_has_a_status_of_its_own() -> None:
    """A decision has the status of success."""
    decided = {pb.SPRT_DECISION_ELO0, pb.SPRT_DECISION_ELO1, pb.SPRT_DECISION_UNSPECIFIED}
    assert set(pb.SprtDecision.values()) - EXIT_STATUS.keys() == decided
    assert sorted(EXIT_STATUS.values()) == [3, 4]

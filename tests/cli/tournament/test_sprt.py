import pytest

from meijin.cli.tournament.sprt import EXIT_STATUS, outcome_lines, standing_line
from meijin.v1 import tournament_service_pb2 as pb

STANDING = pb.SprtStanding(wins=3, draws=1, losses=2, pairs=[0, 1, 1, 0, 1], llr=0.5, lower=-2.94)


def test_repeats_are_told_where_there_are_any() -> None:
    line = "LLR 0.50 (-2.94, 0.00)  games 6  pairs 0-1-1-0-1"
    assert standing_line(STANDING) == line
    repeated = pb.SprtStanding(repeats=40)
    repeated.MergeFrom(STANDING)
    assert standing_line(repeated) == line.replace("games 6", "games 6  repeats left out 40")


def test_each_undecided_end_has_a_status_of_its_own() -> None:
    decided = {pb.SPRT_DECISION_ELO0, pb.SPRT_DECISION_ELO1, pb.SPRT_DECISION_UNSPECIFIED}
    assert set(pb.SprtDecision.values()) - EXIT_STATUS.keys() == decided
    assert sorted(EXIT_STATUS.values()) == [3, 4]


@pytest.mark.parametrize(
    ("verdict", "normalised", "elo"),
    [("", "± 50.0", "± 40.5"), ("decided", "(+10.0 to +110.0)", "(+8.0 to +89.0)")],
)
def test_after_its_end_an_interval_has_two_ends(verdict: str, normalised: str, elo: str) -> None:
    """While the test runs it is a margin."""
    estimate = pb.SprtEstimate(
        normalised_elo=64.04,
        normalised_margin=50.0,
        normalised_low=10.0,
        normalised_high=110.0,
        elo=50.0,
        elo_margin=40.5,
        elo_low=8.0,
        elo_high=89.0,
        los=0.975,
        is_sequential=bool(verdict),
    )
    standing = pb.SprtStanding(
        pairs=[1, 2, 3, 4, 5], lower=-2.94, upper=2.94, llr=3, wins=20, estimate=estimate
    )
    line = "LLR 3.00 (-2.94, 2.94)  games 20  pairs 1-2-3-4-5"
    told = [f"{line}  nElo +64.0 {normalised}  LOS 97.5%", f"Elo +50.0 {elo}", verdict]
    assert outcome_lines(pb.Tournament(sprt=standing, verdict=verdict)) == list(filter(None, told))

from meijin.cli.tournament.sprt import EXIT_STATUS, standing_parts
from meijin.v1 import tournament_service_pb2 as pb

STANDING = pb.SprtStanding(
    wins=3,
    draws=1,
    losses=2,
    pairs=[0, 1, 1, 0, 1],
    openings=2,
    units=2.2,
    llr=0.5,
    lower=-2.94,
)


def test_each_undecided_end_has_a_status_of_its_own() -> None:
    decided = {pb.SPRT_DECISION_ELO0, pb.SPRT_DECISION_ELO1, pb.SPRT_DECISION_UNSPECIFIED}
    assert set(pb.SprtDecision.values()) - EXIT_STATUS.keys() == decided
    assert sorted(EXIT_STATUS.values()) == [3, 4]


def test_the_most_important_part_comes_first() -> None:
    """The strength while there is an estimate."""
    ratio, games, pairs = "LLR 0.50 (-2.94, 0.00)", "games 6", "pairs 0-1-1-0-1"
    worth = "3 pairs on 2 openings = 2 units"
    assert standing_parts(STANDING) == [ratio, games, worth, pairs]
    estimate = pb.SprtEstimate(normalised_elo=64.04, normalised_margin=50.0, los=0.975)
    known = pb.SprtStanding(estimate=estimate)
    known.MergeFrom(STANDING)
    assert standing_parts(known) == [ratio, games, worth, "nElo +64.0 ± 50.0", "LOS 97.5%", pairs]

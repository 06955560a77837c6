"""Where a test stands, in words, and the status that a match of it ends with."""

from __future__ import annotations

from meijin.cli.sprt import EXIT_STATUS, outcome_lines, standing_line
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


def tournament(*, is_sequential: bool) -> pb.Tournament:
    """Whose test has an estimate."""
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
        is_sequential=is_sequential,
    )
    standing = pb.SprtStanding(
        pairs=[1, 2, 3, 4, 5], lower=-2.94, upper=2.94, llr=3, wins=20, estimate=estimate
    )
    return pb.Tournament(sprt=standing, verdict="decided" if is_sequential else "")


def test_while_it_runs_an_interval_is_a_margin() -> None:
    """On either side of the estimate."""
    assert outcome_lines(tournament(is_sequential=False)) == [
        "LLR 3.00 (-2.94, 2.94)  games 20  pairs 1-2-3-4-5  nElo +64.0 ± 50.0  LOS 97.5%",
        "Elo +50.0 ± 40.5",
    ]


def test_after_its_end_an_interval_has_two_ends() -> None:
    """The estimate is not in its middle; there is one estimate, not two."""
    assert outcome_lines(tournament(is_sequential=True)) == [
        (
            "LLR 3.00 (-2.94, 2.94)  games 20  pairs 1-2-3-4-5  "
            "nElo +64.0 (+10.0 to +110.0)  LOS 97.5%"
        ),
        "Elo +50.0 (+8.0 to +89.0)",
        "decided",
    ]

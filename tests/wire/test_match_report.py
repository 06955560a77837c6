from datetime import timedelta

import pytest
from google.protobuf.duration_pb2 import Duration

from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.match_report import evidence_text, report_lines


def seconds(count: float) -> Duration:
    made = Duration()
    made.FromTimedelta(timedelta(seconds=count))
    return made


def response_of(report: pb.MatchReport | None) -> pb.GetTournamentResponse:
    settings = pb.TournamentSettings(bots=["ada", "bob"])
    return pb.GetTournamentResponse(
        tournament=pb.Tournament(tournament_id="1", settings=settings),
        faults=[pb.FaultCount(bot="ada"), pb.FaultCount(bot="bob", faults=1)],
        match_report=report,
    )


REPORT = pb.MatchReport(
    black=pb.ColorScore(wins=7, losses=3),
    white=pb.ColorScore(wins=5, draws=1, losses=4),
    pairs=[0, 2, 3, 1, 4],
    repeats=2,
    estimate=pb.SprtEstimate(
        elo=88.74, elo_margin=160.2, normalised_elo=75.31, normalised_margin=140.06, los=0.867
    ),
    plies=842,
    first=pb.TimeUse(moves=400, time=seconds(12.4)),
    second=pb.TimeUse(moves=400, time=seconds(44)),
    play_time=seconds(1.6),
)


def test_three_lines_say_it_all() -> None:
    assert report_lines(response_of(REPORT)) == [
        "ada against bob: 12.5 of 20 (62.5%), +12 =1 -7, black 7-0-3, white 5-1-4",
        "Elo +88.7 ± 160.2, nElo +75.3 ± 140.1, LOS 86.7%, repeats left out 2, pairs 0-2-3-1-4",
        "plies 42.1 a game, 0.031 s and 0.11 s a move, 12.5 games/s in 1.6 s; faults 0 and 1",
    ]


def test_a_clean_score_has_a_bound_and_no_interval() -> None:
    won = pb.MatchReport(black=pb.ColorScore(wins=4), elo_bound=19.2)
    lost = pb.MatchReport(black=pb.ColorScore(losses=4), elo_bound=-19.2)
    drawn = pb.MatchReport(black=pb.ColorScore(draws=4))
    told = [report_lines(response_of(report))[1] for report in (won, lost, drawn)]
    assert told[0].startswith("Elo above +19 (95%)")
    assert told[1].startswith("Elo below -19 (95%)")
    assert told[2].startswith("Elo unknown, all games were drawn")


def test_a_gauntlet_has_two_lines_an_opponent() -> None:
    """None of one whom the first bot has not met."""
    response = response_of(None)
    response.tournament.settings.bots.extend(["cyd", "dan"])
    won = pb.MatchReport(black=pb.ColorScore(wins=4), pairs=[0] * 5, elo_bound=19.2)
    response.match_reports.extend([REPORT, pb.MatchReport(), won])
    score, strength, *others = report_lines(response)
    assert [score, strength] == report_lines(response_of(REPORT))[:2]
    assert others[0].startswith("ada against dan: 4 of 4 (100.0%)")
    assert others[1:] == ["Elo above +19 (95%), pairs 0-0-0-0-0"]


def test_a_test_adds_its_ratio_and_its_verdict() -> None:
    """And its estimate, once it has decided, has an interval of two ends."""
    response = response_of(REPORT)
    response.match_report.estimate.is_sequential = True
    response.match_report.estimate.normalised_low = 10.04
    response.match_report.estimate.normalised_high = 190.0
    response.tournament.sprt.llr, response.tournament.sprt.upper = 3, 2.94
    response.tournament.verdict = "H1 accepted"
    _, strength, _, *rest = report_lines(response)
    assert "nElo +75.3 (+10.0 to +190.0), LOS" in strength
    assert rest == ["LLR 3.00 (0.00, 2.94)", "H1 accepted"]


@pytest.mark.parametrize(("units", "worth"), [(820.0, ""), (819.6, ""), (61.3, " = 61 units")])
def test_a_test_says_what_its_pairs_are_worth(units: float, worth: str) -> None:
    """Where that is less than they are."""
    standing = pb.SprtStanding(pairs=[100, 200, 300, 120, 100], openings=40, units=units)
    assert evidence_text(standing) == f"820 pairs on 40 openings{worth}"


def test_nothing_is_said_of_no_games() -> None:
    """But why there are none."""
    response = response_of(None)
    assert report_lines(response) == []
    response.tournament.verdict = "the last bot has left"
    assert report_lines(response) == ["the last bot has left"]

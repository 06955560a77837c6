import pytest
from rich.table import Table
from tests.cli.shown import cells, printed

from meijin.cli.ladder.diagnosis import (
    calibration_lines,
    diagnosis_notes,
    diagnosis_tables,
    probability,
)
from meijin.v1 import ladder_service_pb2 as pb

ADA, BOB = pb.RatedVersion(bot="ada", version="1"), pb.RatedVersion(bot="bob")
CYD = pb.RatedVersion(bot="cyd", version="a" * 10)

PAIR = pb.PairResidual(one=ADA, other=BOB, games=40, score=0.25, expected_score=0.612, sure=True)
PAIR.deviations, PAIR.p_value = -4.63, 0.0004


def response(*, rejected: bool = False) -> pb.GetDiagnosisResponse:
    fit = pb.FitSummary(p_value=0.0001 if rejected else 0.25, overdispersion=1.44, deviation=81.6)
    fit.rejected = rejected
    return pb.GetDiagnosisResponse(
        ladder="freestyle-15x15",
        run=pb.RatingRun(run_id="7", games=1234, fit=fit),
        chi_square=123.4,
        deviance=120.6,
        degrees_of_freedom=85.7,
        pairs_with_enough_games=100,
        pairs=[PAIR],
        triples=[pb.CircularTriad(one=ADA, other=BOB, third=CYD, excess=401, deviations=2.2)],
        drifts=[pb.VersionDrift(version=BOB, elo_per_100_games=-21.6, p_value=0.3)],
        changes=[pb.VersionChange(version=CYD, games=90, elo=-133.4, p_value=0.3)],
    )


def test_each_kind_has_a_table_that_fits_a_terminal() -> None:
    made = diagnosis_tables(response())
    assert [cells(each) for each in made] == [
        ["ada|bob|40|25.0%|61.2%|-4.6|<0.001|yes"],
        ["ada|bob|cyd|401|+2.2|<0.001|"],
        ["bob|-22|+0.0|0.300|"],
        ["cyd|90|-133|+0.0|0.300|"],
    ]
    assert len(printed(*made, width=80)) == 12


def test_versions_are_named_where_there_are_several() -> None:
    found = response()
    found.drifts.add(version=pb.RatedVersion(bot="ada", version="2"))
    pairs, _, trends, _ = diagnosis_tables(found)
    assert cells(pairs)[0].startswith("ada 1|bob|")
    assert cells(trends)[1].startswith("ada 2|")


def test_tables_have_only_so_many_lines_and_empty_ones_are_left_out() -> None:
    found = response()
    found.pairs.add(one=BOB, other=CYD)
    found.ClearField("triples")
    found.ClearField("drifts")
    found.ClearField("changes")
    assert [each.row_count for each in diagnosis_tables(found)] == [2]
    assert [each.row_count for each in diagnosis_tables(found, top=1)] == [1]


def test_the_notes_judge_the_fit() -> None:
    run, scatter, fits = diagnosis_notes(response())
    assert run == "run 7 from 1234 games"
    assert "chi-square 123 and deviance 121 over 100 pairs" in scatter
    assert "86 are expected; overdispersion 1.44" in scatter
    assert fits == "as a whole the games fit one rating a version (p 0.250)"
    misfit = diagnosis_notes(response(rejected=True))[2]
    assert misfit.startswith("results depend on who meets whom (p <0.001)")
    assert "by 82 Elo, which ± allows for" in misfit
    (note,) = diagnosis_notes(pb.GetDiagnosisResponse(run=pb.RatingRun(run_id="3")))
    assert note.startswith("run 3 is of a release that did not look")


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "<0.001"), (0.0004, "<0.001"), (0.0006, "0.001"), (1.0, "1.000")]
)
def test_a_small_chance_is_not_none(value: float, text: str) -> None:
    assert probability(value) == text


def test_the_calibration_is_a_table() -> None:
    """With its days; before the second day is over it says what it waits for."""
    row = pb.CalibrationBin(games=40, expected_score=0.726, score=0.7, score_low=0.55)
    row.score_high = 0.8125
    found = pb.GetCalibrationResponse(
        ladder="freestyle-15x15", first_day="2026-01-02", last_day="2026-03-01", bins=[row]
    )
    made, note = calibration_lines(found)
    assert isinstance(made, Table)
    assert cells(made) == ["72.6%|40|70.0%|55.0%|81.2%"]
    assert "games of 2026-01-02 to 2026-03-01" in str(note)
    (waits,) = calibration_lines(pb.GetCalibrationResponse())
    assert "second day" in str(waits)

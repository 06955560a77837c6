"""The diagnosis of a ladder as tables and sentences."""

import pytest
from rich.console import Console

from meijin.cli.diagnosis_views import (
    diagnosis_notes,
    diagnosis_tables,
    probability,
    verdict,
)
from meijin.v1 import ladder_service_pb2 as pb

ADA, BOB = pb.RatedVersion(bot="ada", version="1"), pb.RatedVersion(bot="bob")
CYD = pb.RatedVersion(bot="cyd", version="a" * 10)


def response(*, rejected: bool = False) -> pb.GetDiagnosisResponse:
    """A diagnosis with one line of each kind."""
    fit = pb.FitSummary(p_value=0.0001 if rejected else 0.25, overdispersion=1.44, deviation=81.6)
    fit.rejected = rejected
    return pb.GetDiagnosisResponse(
        ladder="freestyle-15x15",
        run=pb.RatingRun(run_id="7", games=1234, fit=fit),
        chi_square=123.4,
        deviance=120.6,
        degrees_of_freedom=85.7,
        pairs_with_enough_games=100,
        pairs=[
            pb.PairResidual(
                one=ADA,
                other=BOB,
                games=40,
                score=0.25,
                expected_score=0.612,
                deviations=-4.63,
                p_value=0.0004,
                sure=True,
            )
        ],
        triples=[pb.CircularTriad(one=ADA, other=BOB, third=CYD, excess=401, deviations=2.2)],
        drifts=[pb.VersionDrift(version=BOB, elo_per_100_games=-21.6, p_value=0.3)],
    )


def printed(found: pb.GetDiagnosisResponse, width: int = 80) -> list[str]:
    """The lines of all tables, as they are piped."""
    console = Console(width=width, color_system=None, highlight=False)
    with console.capture() as capture:
        for table in diagnosis_tables(found):
            console.print(table)
    return [line.rstrip() for line in capture.get().splitlines()]


def test_each_kind_has_a_table_that_fits_a_terminal() -> None:
    """A line each in 80 columns, with its surety."""
    lines = printed(response())
    assert len(lines) == 9
    assert lines[2].split() == ["ada", "bob", "40", "25.0%", "61.2%", "-4.6", "<0.001", "yes"]
    assert lines[5].split() == ["ada", "bob", "cyd", "401", "+2.2", "<0.001"]
    assert lines[8].split() == ["bob", "-22", "+0.0", "0.300"]


def test_versions_are_named_where_there_are_several() -> None:
    """As in the standings."""
    found = response()
    found.drifts.add(version=pb.RatedVersion(bot="ada", version="2"))
    lines = printed(found)
    assert lines[2].split()[:3] == ["ada", "1", "bob"]
    assert lines[-1].split()[:2] == ["ada", "2"]


def test_empty_tables_are_left_out() -> None:
    """As of a ladder with two bots."""
    found = response()
    found.ClearField("triples")
    found.ClearField("drifts")
    assert len(diagnosis_tables(found)) == 1


def test_only_so_many_lines() -> None:
    """`--top` holds for each table."""
    found = response()
    found.pairs.add(one=BOB, other=CYD)
    assert diagnosis_tables(found)[0].row_count == 2
    assert diagnosis_tables(found, top=1)[0].row_count == 1


def test_the_notes_judge_the_fit() -> None:
    """Chi-square and its degrees of freedom, and what they come to."""
    run, scatter, fits = diagnosis_notes(response())
    assert run == "run 7 from 1234 games"
    assert "chi-square 123 and deviance 121 over 100 pairs" in scatter
    assert "86 are expected; overdispersion 1.44" in scatter
    assert fits == "as a whole the games fit one rating a version (p 0.250)"
    misfit = diagnosis_notes(response(rejected=True))[2]
    assert "(p <0.001)" in misfit
    assert "by 82 Elo, which ± allows for" in misfit


def test_an_old_run_was_not_looked_at() -> None:
    """Nothing is said for it or against it."""
    (note,) = diagnosis_notes(pb.GetDiagnosisResponse(run=pb.RatingRun(run_id="3")))
    assert note.startswith("run 3 is of a release that did not look")


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "<0.001"), (0.0004, "<0.001"), (0.0006, "0.001"), (1.0, "1.000")]
)
def test_a_small_chance_is_not_none(value: float, text: str) -> None:
    """Nor is it rounded to 0."""
    assert probability(value) == text


def test_a_verdict_names_its_chance() -> None:
    """Either way."""
    assert verdict(pb.FitSummary(p_value=0.019, rejected=True)).startswith("results depend on who")
    assert "(p 0.021)" in verdict(pb.FitSummary(p_value=0.021))

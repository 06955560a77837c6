"""Grades: points by the written formula, and evidence for them."""

import csv
from io import StringIO

import pytest

from meijin.cli.classroom.grading import (
    AnchorTest,
    Grade,
    Mark,
    anchor_test,
    grades_csv,
    mark_of,
    ranges,
)
from meijin.v1 import tournament_service_pb2 as pb

RUNNING, FINISHED = pb.TOURNAMENT_STATE_RUNNING, pb.TOURNAMENT_STATE_FINISHED


def made_grade(*marks: Mark, name: str = "Ada", total: float = 100.0) -> Grade:
    """A grade with these marks."""
    tests = tuple(
        AnchorTest(f"level {place}", mark, wins=1, draws=2, losses=5)
        for place, mark in enumerate(marks)
    )
    return Grade(name, "17", "ada", "1.0", tests, total)


@pytest.mark.parametrize(
    ("marks", "points"),
    [
        ((Mark.PASSED,) * 4, 100),
        ((Mark.FAILED,) * 4, 0),
        ((Mark.PASSED, Mark.PASSED, Mark.UNDECIDED, Mark.FAILED), 56.25),
        ((Mark.PASSED, Mark.UNFINISHED, Mark.ABSENT, Mark.FAILED), 25),
    ],
)
def test_points(marks: tuple[Mark, ...], points: float) -> None:
    """The total over the anchors, for each that is passed; undecided, what was scored counts."""
    assert made_grade(*marks).points == points
    assert made_grade(*marks, total=20).points == points / 5
    assert made_grade(*marks).is_final is (Mark.UNFINISHED not in marks)


@pytest.mark.parametrize(
    ("state", "decision", "mark"),
    [
        (RUNNING, pb.SPRT_DECISION_OPEN, Mark.UNFINISHED),
        (FINISHED, pb.SPRT_DECISION_OPEN, Mark.UNDECIDED),
        (FINISHED, pb.SPRT_DECISION_NOTHING_NEW, Mark.UNDECIDED),
        (FINISHED, pb.SPRT_DECISION_ELO0, Mark.FAILED),
        (FINISHED, pb.SPRT_DECISION_ELO1, Mark.PASSED),
    ],
)
def test_marks(
    state: pb.TournamentState.ValueType, decision: pb.SprtDecision.ValueType, mark: Mark
) -> None:
    """What a test says of a bot."""
    standing = pb.SprtStanding(decision=decision)
    assert mark_of(pb.Tournament(state=state, sprt=standing)) is mark


def test_the_evidence_is_the_first_bots() -> None:
    """Its row of the crosstable, its faults, and the games in order."""
    response = pb.GetTournamentResponse(
        tournament=pb.Tournament(
            tournament_id="7", settings=pb.TournamentSettings(bots=["ada", "anchor"])
        ),
        crosstable=[
            pb.CrosstableCell(bot="anchor", opponent="ada", wins=1, draws=2, losses=3),
            pb.CrosstableCell(bot="ada", opponent="anchor", wins=3, draws=2, losses=1),
        ],
        faults=[pb.FaultCount(bot="ada", faults=4), pb.FaultCount(bot="anchor", faults=5)],
    )
    found = anchor_test("level 1", response, [9, 3, 4])
    assert (found.score, found.faults, found.games) == ("+3 =2 -1", 4, (3, 4, 9))


@pytest.mark.parametrize(
    ("numbers", "text"),
    [((), ""), ((5,), "5"), ((1, 2, 3, 5, 7, 8), "1-3 5 7-8")],
)
def test_numbers_in_a_row_are_told_as_one(numbers: tuple[int, ...], text: str) -> None:
    """As people write them."""
    assert ranges(numbers) == text


def test_the_table_is_safe_in_a_spreadsheet() -> None:
    """No cell is taken for a formula, and quotes and commas stay what they are."""
    evil = '=HYPERLINK("http://example.org","x")'
    rows = list(csv.reader(StringIO(grades_csv([made_grade(Mark.PASSED, name=evil)]))))
    assert rows[0][:5] == ["name", "id", "handle", "version", "points"]
    assert rows[1][0] == f"'{evil}"
    assert rows[1][4:9] == ["100.0", "100", "yes", "0", "passed"]
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)

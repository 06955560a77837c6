import csv
from dataclasses import replace
from io import StringIO

import pytest

from meijin.cli.classes.grading import (
    AnchorMark,
    AnchorTest,
    Grade,
    anchor_test,
    grades_csv,
    mark_of,
    ranges,
    undated,
)
from meijin.cli.classes.roster import BYTE_ORDER_MARK
from meijin.v1 import tournament_service_pb2 as pb

PASSED, FAILED, UNDECIDED = AnchorMark.PASSED, AnchorMark.FAILED, AnchorMark.UNDECIDED
STOPPED, UNFINISHED, ABSENT = AnchorMark.STOPPED, AnchorMark.UNFINISHED, AnchorMark.ABSENT
RUNNING, FINISHED = pb.TOURNAMENT_STATE_RUNNING, pb.TOURNAMENT_STATE_FINISHED
CANCELLED = pb.TOURNAMENT_STATE_CANCELLED


def made_grade(*marks: AnchorMark, name: str = "Ada", total: float = 100.0) -> Grade:
    tests = tuple(
        AnchorTest(f"level {place}", mark, most_games=20, wins=1, draws=2, losses=5)
        for place, mark in enumerate(marks)
    )
    return Grade(name, "17", "ada", "1.0", tests, total)


@pytest.mark.parametrize(
    ("marks", "points"),
    [
        ((PASSED,) * 4, 100),
        ((FAILED,) * 4, 0),
        ((PASSED, PASSED, UNDECIDED, FAILED), 56.25),
        ((PASSED, UNFINISHED, ABSENT, FAILED), 25),
        ((STOPPED, STOPPED, FAILED, FAILED), 5),
    ],
)
def test_points(marks: tuple[AnchorMark, ...], points: float) -> None:
    """The total over the anchors, for each that is passed; undecided, what was scored counts.

    Of a test that was stopped the games that were not played count as lost.
    """
    assert made_grade(*marks).points == points
    assert made_grade(*marks, total=20).points == points / 5
    assert made_grade(*marks).is_final is (UNFINISHED not in marks)


def test_a_grade_is_final_once_the_bot_is_frozen() -> None:
    grade = made_grade(PASSED)
    assert grade.is_final
    grade = replace(grade, is_frozen=False)
    assert (grade.is_played, grade.is_final) == (True, False)


@pytest.mark.parametrize(
    ("state", "decision", "faults", "mark"),
    [
        (RUNNING, pb.SPRT_DECISION_OPEN, 5, UNFINISHED),
        (FINISHED, pb.SPRT_DECISION_OPEN, 4, UNDECIDED),
        (FINISHED, pb.SPRT_DECISION_NOTHING_NEW, 0, UNDECIDED),
        (FINISHED, pb.SPRT_DECISION_ELO0, 4, FAILED),
        (FINISHED, pb.SPRT_DECISION_ELO1, 0, PASSED),
        (CANCELLED, pb.SPRT_DECISION_OPEN, 5, STOPPED),
        (CANCELLED, pb.SPRT_DECISION_OPEN, 4, UNFINISHED),
    ],
)
def test_marks(
    state: pb.TournamentState.ValueType,
    decision: pb.SprtDecision.ValueType,
    faults: int,
    mark: AnchorMark,
) -> None:
    """One that was cancelled for other reasons than the student's faults goes on."""
    settings = pb.TournamentSettings(max_faults=5)
    standing = pb.SprtStanding(decision=decision)
    found = pb.Tournament(state=state, sprt=standing, settings=settings)
    assert mark_of(found, faults) is mark


def test_the_evidence_is_the_first_bots() -> None:
    settings = pb.TournamentSettings(bots=["ada", "anchor"])
    response = pb.GetTournamentResponse(
        tournament=pb.Tournament(tournament_id="7", settings=settings),
        crosstable=[
            pb.CrosstableCell(bot="anchor", opponent="ada", wins=1, draws=2, losses=3),
            pb.CrosstableCell(bot="ada", opponent="anchor", wins=3, draws=2, losses=1),
        ],
        faults=[pb.FaultCount(bot="ada", faults=4), pb.FaultCount(bot="anchor", faults=5)],
    )
    found = anchor_test("level 1", response, [9, 3, 4])
    assert (found.score, found.faults, found.games) == ("+3 =2 -1", 4, (3, 4, 9))


def test_the_table_is_safe_in_a_spreadsheet() -> None:
    evil = '=HYPERLINK("http://example.org","x")'
    text = grades_csv([made_grade(PASSED, name=evil)])
    rows = list(csv.reader(StringIO(text.removeprefix(BYTE_ORDER_MARK))))
    assert rows[0][:5] == ["name", "id", "handle", "version", "points"]
    assert rows[1][0] == f"'{evil}"
    assert rows[1][4:9] == ["100.0", "100", "yes", "0", "passed"]
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)
    assert list(map(ranges, [(), (5,), (1, 2, 3, 5, 7, 8)])) == [
        "",
        "5",
        "1 to 3 and 5 and 7 to 8",
    ]


@pytest.mark.parametrize(
    ("text", "is_date"),
    [
        *((text, True) for text in ("1.0", "1-8", "12/03/2026", "jan-2", "2 May", "März 1")),
        *((text, False) for text in ("1", "v1.2", "Jan Mayer", "ada", "ada-2", "1.0.0rc1", "")),
    ],
)
def test_no_spreadsheet_takes_a_text_for_a_date(text: str, *, is_date: bool) -> None:
    assert undated(text) == (f"'{text}" if is_date else text)

import csv
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
)
from meijin.cli.classes.roster import BYTE_ORDER_MARK
from meijin.v1 import tournament_service_pb2 as pb

PASSED, FAILED, UNDECIDED = AnchorMark.PASSED, AnchorMark.FAILED, AnchorMark.UNDECIDED
UNFINISHED, ABSENT = AnchorMark.UNFINISHED, AnchorMark.ABSENT
RUNNING, FINISHED = pb.TOURNAMENT_STATE_RUNNING, pb.TOURNAMENT_STATE_FINISHED


def made_grade(*marks: AnchorMark, name: str = "Ada", total: float = 100.0) -> Grade:
    tests = tuple(
        AnchorTest(f"level {place}", mark, wins=1, draws=2, losses=5)
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
    ],
)
def test_points(marks: tuple[AnchorMark, ...], points: float) -> None:
    """The total over the anchors, for each that is passed; undecided, what was scored counts."""
    assert made_grade(*marks).points == points
    assert made_grade(*marks, total=20).points == points / 5
    assert made_grade(*marks).is_final is (UNFINISHED not in marks)


@pytest.mark.parametrize(
    ("state", "decision", "mark"),
    [
        (RUNNING, pb.SPRT_DECISION_OPEN, UNFINISHED),
        (FINISHED, pb.SPRT_DECISION_OPEN, UNDECIDED),
        (FINISHED, pb.SPRT_DECISION_NOTHING_NEW, UNDECIDED),
        (FINISHED, pb.SPRT_DECISION_ELO0, FAILED),
        (FINISHED, pb.SPRT_DECISION_ELO1, PASSED),
    ],
)
def test_marks(
    state: pb.TournamentState.ValueType, decision: pb.SprtDecision.ValueType, mark: AnchorMark
) -> None:
    standing = pb.SprtStanding(decision=decision)
    assert mark_of(pb.Tournament(state=state, sprt=standing)) is mark


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
    assert list(map(ranges, [(), (5,), (1, 2, 3, 5, 7, 8)])) == ["", "5", "1-3 5 7-8"]

"""Grades: what a bot's tests against the anchors are worth, by a written formula."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from io import StringIO

from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.text import spreadsheet_text

INDIFFERENCE = 60.0
"""Normalised Elo: a bot that is by so much the better one passes, and who is by so much the
worse one fails."""
MOST_GAMES = 100
"""Against each anchor; a test that has not decided by then counts as much as was scored in it."""
RISK = 0.05
"""Of either error at the two bounds."""
TOTAL = 100.0
"""Points of who passes everything."""


class Mark(Enum):
    """What a test against an anchor has shown."""

    PASSED = "passed"
    """The bot is the better one."""
    FAILED = "failed"
    UNDECIDED = "undecided"
    """The games were used up: the two are about as good."""
    UNFINISHED = "unfinished"
    """Games are still to be played."""
    ABSENT = "absent"
    """The bot has never been there."""


@dataclass(frozen=True, slots=True)
class AnchorTest:
    """How a student's bot did against an anchor, with the evidence."""

    anchor: str
    """Its label."""
    mark: Mark
    tournament_id: str = ""
    wins: int = 0
    draws: int = 0
    losses: int = 0
    faults: int = 0
    """Games that the student's bot forfeited; they are lost."""
    games: tuple[int, ...] = ()
    """Their numbers, in order."""

    @property
    def share(self) -> float:
        """What it has of the anchor's points."""
        if self.mark is Mark.UNDECIDED:
            games = self.wins + self.draws + self.losses
            return (self.wins + self.draws / 2) / games if games else 0.0
        return float(self.mark is Mark.PASSED)

    @property
    def score(self) -> str:
        """Won, drawn and lost games."""
        return f"+{self.wins} ={self.draws} -{self.losses}"


@dataclass(frozen=True, slots=True)
class Grade:
    """A student's grade."""

    name: str
    student_id: str
    handle: str
    version: str
    tests: tuple[AnchorTest, ...]
    total: float = TOTAL

    @property
    def points(self) -> float:
        """The total over the anchors: for each that is passed, and where it is undecided in part."""
        return self.total / len(self.tests) * sum(test.share for test in self.tests)

    @property
    def is_final(self) -> bool:
        """Whether all of its games are played."""
        return all(test.mark is not Mark.UNFINISHED for test in self.tests)


def sprt() -> pb.Sprt:
    """The test that decides whether an anchor is beaten."""
    return pb.Sprt(
        elo0=-INDIFFERENCE, elo1=INDIFFERENCE, alpha=RISK, beta=RISK, most_games=MOST_GAMES
    )


def anchor_test(
    anchor: str, response: pb.GetTournamentResponse, games: Sequence[int]
) -> AnchorTest:
    """What a tournament says of the first of its two bots."""
    found = response.tournament
    bot = found.settings.bots[0]
    faults = {count.bot: count.faults for count in response.faults}
    cell = next((each for each in response.crosstable if each.bot == bot), pb.CrosstableCell())
    return AnchorTest(
        anchor,
        mark_of(found),
        found.tournament_id,
        wins=cell.wins,
        draws=cell.draws,
        losses=cell.losses,
        faults=faults.get(bot, 0),
        games=tuple(sorted(games)),
    )


def mark_of(tournament: pb.Tournament) -> Mark:
    """What a test has shown."""
    match tournament.sprt.decision:
        case pb.SPRT_DECISION_ELO1:
            return Mark.PASSED
        case pb.SPRT_DECISION_ELO0:
            return Mark.FAILED
    has_ended = tournament.state == pb.TOURNAMENT_STATE_FINISHED
    return Mark.UNDECIDED if has_ended else Mark.UNFINISHED


def ranges(numbers: Sequence[int]) -> str:
    """Sorted numbers, such as ``3-7 9``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1] = [runs[-1][0], number]
        else:
            runs.append([number])
    return " ".join("-".join(map(str, run)) for run in runs)


def grades_csv(grades: Sequence[Grade]) -> str:
    """All grades with their evidence, a student a row."""
    text = StringIO()
    writer = csv.writer(text)
    labels = [test.anchor for test in grades[0].tests] if grades else []
    titles = ["name", "id", "handle", "version", "points", "of", "final", "faults"]
    for label in labels:
        titles += [label, f"{label} score", f"{label} tournament", f"{label} games"]
    writer.writerow(titles)
    for grade in grades:
        writer.writerow(_row(grade))
    return text.getvalue()


def _row(grade: Grade) -> list[str]:
    row = [
        *map(spreadsheet_text, (grade.name, grade.student_id, grade.handle, grade.version)),
        f"{grade.points:.1f}",
        f"{grade.total:g}",
        "yes" if grade.is_final else "no",
        str(sum(test.faults for test in grade.tests)),
    ]
    for test in grade.tests:
        row += [test.mark.value, f" {test.score}", test.tournament_id, ranges(test.games)]
    return row


def grade_object(each: Grade) -> dict[str, object]:
    """A grade as JSON has it."""
    return {
        "name": each.name,
        "student_id": each.student_id,
        "handle": each.handle,
        "version": each.version,
        "points": each.points,
        "of": each.total,
        "final": each.is_final,
        "tests": [
            {
                "anchor": test.anchor,
                "mark": test.mark.value,
                "wins": test.wins,
                "draws": test.draws,
                "losses": test.losses,
                "faults": test.faults,
                "tournament_id": test.tournament_id,
                "games": list(test.games),
            }
            for test in each.tests
        ],
    }

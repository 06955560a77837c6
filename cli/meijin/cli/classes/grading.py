"""Grades: what a bot's tests against the anchors are worth, by a written formula."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import Enum

from meijin.cli.classes.roster import spreadsheet
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.standings import share
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


class AnchorMark(Enum):
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
    mark: AnchorMark
    wins: int = 0
    draws: int = 0
    losses: int = 0
    faults: int = 0
    """Games that the student's bot forfeited; they are lost."""
    tournament_id: str = ""
    games: tuple[int, ...] = ()
    """Their numbers, in order."""

    @property
    def share(self) -> float:
        """What it has of the anchor's points."""
        if self.mark is AnchorMark.UNDECIDED:
            return share(self) or 0.0
        return float(self.mark is AnchorMark.PASSED)

    @property
    def score(self) -> str:
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
        return all(test.mark is not AnchorMark.UNFINISHED for test in self.tests)


def sprt() -> pb.Sprt:
    return pb.Sprt(
        elo0=-INDIFFERENCE, elo1=INDIFFERENCE, alpha=RISK, beta=RISK, most_games=MOST_GAMES
    )


def anchor_test(
    anchor: str, response: pb.GetTournamentResponse, games: Sequence[int]
) -> AnchorTest:
    found = response.tournament
    bot = found.settings.bots[0]
    faults = {count.bot: count.faults for count in response.faults}.get(bot, 0)
    cell = next((each for each in response.crosstable if each.bot == bot), pb.CrosstableCell())
    score = (cell.wins, cell.draws, cell.losses)
    key, numbers = found.tournament_id, tuple(sorted(games))
    return AnchorTest(anchor, mark_of(found), *score, faults, key, numbers)


def mark_of(tournament: pb.Tournament) -> AnchorMark:
    match tournament.sprt.decision:
        case pb.SPRT_DECISION_ELO1:
            return AnchorMark.PASSED
        case pb.SPRT_DECISION_ELO0:
            return AnchorMark.FAILED
    has_ended = tournament.state == pb.TOURNAMENT_STATE_FINISHED
    return AnchorMark.UNDECIDED if has_ended else AnchorMark.UNFINISHED


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
    titles = ["name", "id", "handle", "version", "points", "of", "final", "faults"]
    for test in grades[0].tests if grades else ():
        label = test.anchor
        titles += [label, f"{label} score", f"{label} tournament", f"{label} games"]
    return spreadsheet([titles, *map(_row, grades)])


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


def grade_object(grade: Grade) -> dict[str, object]:
    tests = [asdict(test) | {"mark": test.mark.value} for test in grade.tests]
    about = {name: getattr(grade, name) for name in ("name", "student_id", "handle", "version")}
    numbers = {"points": grade.points, "of": grade.total, "final": grade.is_final}
    return about | numbers | {"tests": tests}

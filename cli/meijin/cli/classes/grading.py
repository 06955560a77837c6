"""Grades: what a bot's tests against the anchors are worth, by a written formula."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import Enum

from meijin.cli.classes.roster import spreadsheet
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.standings import points, share
from meijin.wire.text import spreadsheet_text

INDIFFERENCE = 60.0
"""Normalised Elo: a bot that is by so much the better one passes, and who is by so much the
worse one fails."""
MOST_GAMES = 100
"""Against each anchor; a test that has not decided by then counts as much as was scored in it."""
MOST_FAULTS = 5
"""Games that a bot may forfeit against an anchor, before the rest is not played."""
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
    STOPPED = "stopped"
    """It has forfeited as many games as were allowed; those that were not played count as lost."""
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
    most_games: int = MOST_GAMES
    """As many are played where nothing is decided earlier."""
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
        if self.mark is AnchorMark.STOPPED:
            return points(self) / self.most_games
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
    is_frozen: bool = True
    """The deadline is over: the bot stays the version that it is."""

    @property
    def points(self) -> float:
        """The total over the anchors: for each that is passed, and in part where none is decided."""
        return self.total / len(self.tests) * sum(test.share for test in self.tests)

    @property
    def faults(self) -> int:
        return sum(test.faults for test in self.tests)

    @property
    def is_played(self) -> bool:
        return all(test.mark is not AnchorMark.UNFINISHED for test in self.tests)

    @property
    def is_final(self) -> bool:
        return self.is_frozen and self.is_played


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
    mark, most = mark_of(found, faults), found.settings.sprt.most_games
    return AnchorTest(anchor, mark, most, *score, faults, found.tournament_id, tuple(sorted(games)))


def mark_of(tournament: pb.Tournament, faults: int) -> AnchorMark:
    """What a test has shown in which the student's bot has forfeited this many games."""
    match tournament.sprt.decision:
        case pb.SPRT_DECISION_ELO1:
            return AnchorMark.PASSED
        case pb.SPRT_DECISION_ELO0:
            return AnchorMark.FAILED
    is_cancelled = tournament.state == pb.TOURNAMENT_STATE_CANCELLED
    if is_cancelled and 0 < tournament.settings.max_faults <= faults:
        return AnchorMark.STOPPED
    has_ended = tournament.state == pb.TOURNAMENT_STATE_FINISHED
    return AnchorMark.UNDECIDED if has_ended else AnchorMark.UNFINISHED


def ranges(numbers: Sequence[int]) -> str:
    """Sorted numbers, such as ``3 to 7 and 9``, which no spreadsheet takes for a date."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1] = [runs[-1][0], number]
        else:
            runs.append([number])
    return " and ".join(" to ".join(map(str, run)) for run in runs)


_MONTHS = "jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz]"
_PART = rf"(\d{{1,4}}|({_MONTHS})[^\W\d]*)"
_DATE = re.compile(rf"(?=.*\d){_PART}([-/. ]+{_PART})+", re.IGNORECASE)


def undated(text: str) -> str:
    """Text that no spreadsheet takes for a date, or for a formula."""
    return f"'{text}" if _DATE.fullmatch(text) else spreadsheet_text(text)


def grades_csv(grades: Sequence[Grade]) -> str:
    """All grades with their evidence, a student a row."""
    titles = ["name", "id", "handle", "version", "points", "of", "final", "faults"]
    for test in grades[0].tests if grades else ():
        label = test.anchor
        titles += [label, f"{label} score", f"{label} tournament", f"{label} games"]
    return spreadsheet([titles, *map(_row, grades)])


def _row(grade: Grade) -> list[str]:
    row = [
        *map(undated, (grade.name, grade.student_id, grade.handle, grade.version)),
        f"{grade.points:.1f}",
        f"{grade.total:g}",
        "yes" if grade.is_final else "no",
        str(grade.faults),
    ]
    for test in grade.tests:
        row += [test.mark.value, f" {test.score}", test.tournament_id, ranges(test.games)]
    return row


def grade_object(grade: Grade) -> dict[str, object]:
    tests = [asdict(test) | {"mark": test.mark.value} for test in grade.tests]
    about = {name: getattr(grade, name) for name in ("name", "student_id", "handle", "version")}
    numbers = {"points": grade.points, "of": grade.total, "faults": grade.faults}
    numbers |= {"final": grade.is_final}
    return about | numbers | {"tests": tests}

"""`meijin class grade`: a test of each student's bot against bots of known strength."""

import hashlib
import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from meijin.arena.tournaments import make_tournament
from meijin.cli.classroom import grading
from meijin.cli.classroom.anchors import REFERENCE, Anchor, level, running_anchors
from meijin.cli.classroom.grading import (
    AnchorTest,
    Grade,
    Mark,
    anchor_test,
    grade_object,
    grades_csv,
)
from meijin.cli.classroom.handout import BYTE_ORDER_MARK
from meijin.cli.commands.classes.rosters import ClassArgument, get_class
from meijin.cli.connection import PAGE, Connection, JsonOption, pages, with_server
from meijin.cli.errors import CommandError
from meijin.cli.options import DEFAULT_VARIANT, VariantOption, settings
from meijin.cli.output import PlainConsole, console, print_json, print_note, table
from meijin.cli.private_files import make_folder, write_private
from meijin.v1 import class_service_pb2 as pb
from meijin.v1 import game_service_pb2 as game_pb
from meijin.v1 import tournament_service_pb2 as tournament_pb

POLL_INTERVAL = timedelta(seconds=0.5)
"""Between two looks at the tests."""

UNFINISHED = 3
"""The exit status when games are left, since bots were away or can't play them."""

SIGNS: Mapping[Mark, str] = {
    Mark.PASSED: "+",
    Mark.FAILED: "-",
    Mark.UNDECIDED: "½",
    Mark.UNFINISHED: "…",
    Mark.ABSENT: "absent",
}


@dataclass(frozen=True, slots=True)
class Trial:
    """A student's bot against an anchor, at the server."""

    student: pb.Student
    anchor: Anchor
    tournament_id: str


@with_server
def grade(
    connection: Connection,
    name: ClassArgument,
    levels: Annotated[
        str, typer.Option(help="Levels of alphabeta, 1 to 10; may be empty.")
    ] = "1,3,5,7",
    reference: Annotated[
        bool, typer.Option(help="The readable search too, as it looks two plies ahead.")
    ] = True,
    points: Annotated[float, typer.Option(min=0, help="Of who passes everything.")] = grading.TOTAL,
    time: Annotated[
        str, typer.Option("--time", "-t", help="Seconds, as for a match; reference needs 1/move.")
    ] = "1/move",
    variant: VariantOption = DEFAULT_VARIANT,
    games: Annotated[
        int, typer.Option(min=2, max=1_000_000, help="At most, against each; an even number.")
    ] = grading.MOST_GAMES,
    wait: Annotated[
        float,
        typer.Option(
            min=0, help="Seconds to wait for bots that are away, once nothing else goes on."
        ),
    ] = 60.0,
    out: Annotated[
        Path | None, typer.Option(help="The folder for grades.csv; one named as the class else.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Test each student's bot against levels of alphabeta and against reference.

    Run again it goes on where it was: what has been played is not played again. The exit
    status is 3 when bots were away and games are left.
    """
    anchors = _anchors(levels, with_reference=reference)
    folder = out or Path(name)
    make_folder(folder)
    found = get_class(connection, name)
    _warn_of_deadline(found.school_class)
    with running_anchors(connection, connection.server, anchors, folder / "anchors"):
        trials = []
        for student, anchor in product(found.students, anchors):
            if student.version_id:
                wanted = _form(student, anchor, time=time, variant=variant, games=games)
                key = _begin(connection, name, student, anchor, wanted)
                trials.append(Trial(student, anchor, key))
        try:
            _follow(connection, trials, timedelta(seconds=wait))
        finally:
            grades = _grades(connection, found.students, anchors, trials, points=points)
            path = folder / "grades.csv"
            write_private(path, BYTE_ORDER_MARK + grades_csv(grades), is_new=False)
    if as_json:
        print_json(
            {"class": name, "file": str(path), "grades": [grade_object(each) for each in grades]}
        )
    else:
        _print(name, grades, anchors, path)
    if not all(each.is_final for each in grades):
        raise typer.Exit(UNFINISHED)


def _anchors(levels: str, *, with_reference: bool) -> list[Anchor]:
    try:
        numbers = sorted({int(each) for each in levels.split(",") if each.strip()})
    except ValueError:
        raise CommandError(f'--levels takes numbers such as 1,3,5,7, not "{levels}"') from None
    if any(not 1 <= number <= 10 for number in numbers):  # noqa: PLR2004 - alphabeta's
        raise CommandError(f'--levels are from 1 to 10, not "{levels}"')
    anchors = [level(number) for number in numbers] + [REFERENCE] * with_reference
    if not anchors:
        raise CommandError("nothing to test against; give --levels or --reference")
    return anchors


def _warn_of_deadline(found: pb.Class) -> None:
    """Say that bots may still change, which would grade two versions as one."""
    is_over = found.HasField("deadline") and found.deadline.ToDatetime(UTC) <= datetime.now(UTC)
    if not is_over:
        typer.echo(
            f"the bots of {found.name} may still change; freeze them first: "
            f"meijin class deadline {found.name} now",
            err=True,
        )


def _form(
    student: pb.Student, anchor: Anchor, *, time: str, variant: str, games: int
) -> tournament_pb.TournamentSettings:
    """The test, with the same openings for everybody."""
    if games % 2:
        raise CommandError(f"--games {games} is odd; games come in pairs on one opening")
    seed = int.from_bytes(hashlib.sha256(anchor.handle.encode()).digest()[:4])
    wanted = settings(
        [student.handle, anchor.handle],
        form="sprt",
        time=time,
        variant=variant,
        seed=seed,
        unrated=True,
        name=f"{student.handle} - {anchor.handle}",
    )
    test = grading.sprt()
    test.most_games = games
    wanted.sprt.CopyFrom(test)
    return wanted


def _begin(
    connection: Connection,
    name: str,
    student: pb.Student,
    anchor: Anchor,
    wanted: tournament_pb.TournamentSettings,
) -> str:
    """The tournament of a test: the one that an earlier run has made for this version, if any."""
    told = f"{name} {student.version_id} {anchor.handle} {anchor.options} ".encode()
    told += wanted.SerializeToString(deterministic=True)
    request_id = f"grade-{hashlib.sha256(told).hexdigest()}"
    return make_tournament(connection, wanted, request_id).tournament_id


def _follow(connection: Connection, trials: Sequence[Trial], wait: timedelta) -> None:
    """Show how far the tests are, until all have ended, or none has gone on for too long."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    left = [trial.tournament_id for trial in trials]
    stuck_since: float | None = None
    with Progress(*columns, console=PlainConsole(stderr=True)) as progress:
        task = progress.add_task("tests", total=len(trials))
        while True:
            running = [each for each in (_test(connection, key) for key in left) if _runs(each)]
            left = [each.tournament_id for each in running]
            progress.update(task, completed=len(trials) - len(left))
            if not left:
                return
            if any(each.running_games or not each.waiting_for for each in running):
                stuck_since = None
            else:
                stuck_since = stuck_since or clock.monotonic()
                if clock.monotonic() >= stuck_since + wait.total_seconds():
                    break
            clock.sleep(POLL_INTERVAL.total_seconds())
    reasons = "; ".join(sorted({each.waiting_for for each in running}))
    print_note(f"games are left: {reasons}; run the same command again")


def _runs(test: tournament_pb.Tournament) -> bool:
    return test.state == tournament_pb.TOURNAMENT_STATE_RUNNING


def _test(connection: Connection, key: str) -> tournament_pb.Tournament:
    return _tournament(connection, key).tournament


def _tournament(connection: Connection, key: str) -> tournament_pb.GetTournamentResponse:
    request = tournament_pb.GetTournamentRequest(tournament_id=key)
    return connection.ask(connection.tournaments.GetTournament, request)


def _grades(
    connection: Connection,
    students: Sequence[pb.Student],
    anchors: Sequence[Anchor],
    trials: Sequence[Trial],
    *,
    points: float,
) -> list[Grade]:
    """All grades as the server knows them now."""
    tests: dict[tuple[str, str], AnchorTest] = {}
    for trial in trials:
        key = trial.tournament_id
        response = _tournament(connection, key)
        tests[trial.student.handle, trial.anchor.label] = anchor_test(
            trial.anchor.label, response, _games(connection, key)
        )
    return [
        Grade(
            student.display_name,
            student.student_id,
            student.handle,
            student.version,
            tuple(
                tests.get((student.handle, anchor.label), AnchorTest(anchor.label, Mark.ABSENT))
                for anchor in anchors
            ),
            points,
        )
        for student in students
    ]


def _games(connection: Connection, key: str) -> list[int]:
    request = game_pb.ListGamesRequest(tournament_id=key, page_size=PAGE)
    found = pages(connection.ask, connection.games.ListGames, request)
    return [int(game.game_id) for page in found for game in page.games]


def _print(name: str, grades: Sequence[Grade], anchors: Sequence[Anchor], path: Path) -> None:
    labels = [anchor.label for anchor in anchors]
    made = table(f"{name}, grades", ("student", *labels, "points"), text_columns=1 + len(labels))
    for each in grades:
        signs = [f"{SIGNS[test.mark]} {_share(test)}".strip() for test in each.tests]
        made.add_row(each.name, *signs, f"{each.points:.1f}")
    console.print(made)
    console.print(f"with the games as evidence: {path}", soft_wrap=True)


def _share(test: AnchorTest) -> str:
    """The points of a test, such as ``7.5/10``."""
    games = test.wins + test.draws + test.losses
    return f"{test.wins + test.draws / 2:g}/{games}" if games else ""

"""`meijin class grade`: a test of each student's bot against bots of known strength."""

import hashlib
import time as clock
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from meijin.cli.classes import grading
from meijin.cli.classes.anchors import REFERENCE, AnchorBot, level, running_anchors
from meijin.cli.classes.forecast import Forecast
from meijin.cli.classes.grading import (
    AnchorMark,
    AnchorTest,
    Grade,
    anchor_test,
    grade_object,
    grades_csv,
)
from meijin.cli.classes.roster import ClassArgument, get_class, is_frozen, names_of
from meijin.cli.command import Output, option
from meijin.cli.errors import CommandError
from meijin.cli.files import make_folder, write_private
from meijin.cli.options import (
    DEFAULT_VARIANT,
    Conditions,
    MaxFaultsOption,
    TournamentOptions,
    VariantOption,
)
from meijin.cli.output import PlainConsole, print_note
from meijin.cli.tables import duration_text, number, table, text
from meijin.local.connection import (
    Connection,
    get_tournament,
    make_tournament,
    read_list,
    set_state,
)
from meijin.v1 import class_service_pb2 as pb
from meijin.v1 import game_service_pb2 as game_pb
from meijin.v1 import tournament_service_pb2 as tournament_pb
from meijin.wire.standings import games_of
from meijin.wire.standings import points as scored

RUNNING = tournament_pb.TOURNAMENT_STATE_RUNNING

POLL_INTERVAL = timedelta(seconds=0.5)
"""Between two looks at the tests."""

MINUTE = timedelta(minutes=1)
"""What takes less is not worth telling."""

UNFINISHED = 3
"""The exit status when games are left, since bots were away or can't play them."""

SIGNS: Mapping[AnchorMark, tuple[str, str]] = {
    AnchorMark.PASSED: ("+", "better than the anchor"),
    AnchorMark.FAILED: ("-", "worse than the anchor"),
    AnchorMark.UNDECIDED: ("½", "neither: the share of what was scored counts"),
    AnchorMark.STOPPED: ("!", "stopped by its faults: what was not played is lost"),
    AnchorMark.UNFINISHED: ("…", "games are left"),
    AnchorMark.ABSENT: ("absent", "was never there"),
}
"""What stands for a mark, and what that means."""


class Trial(NamedTuple):
    """A student's bot against an anchor, at the server."""

    student: pb.Student
    anchor: AnchorBot
    tournament_id: str


def grade(
    connection: Connection,
    name: ClassArgument,
    levels: Annotated[str, "Levels of alphabeta, 1 to 10; may be empty."] = "1,3,5,7",
    reference: Annotated[
        bool, typer.Option(help="The readable search too, as it looks two plies ahead.")
    ] = True,
    points: Annotated[float, option("Of who passes everything.", 0)] = grading.TOTAL,
    time: Annotated[
        str, typer.Option("--time", "-t", help="Seconds, as for a match; reference needs 1/move.")
    ] = "1/move",
    variant: VariantOption = DEFAULT_VARIANT,
    games: Annotated[
        int, option("At most, against each; an even number.", 2, 1_000_000)
    ] = grading.MOST_GAMES,
    max_faults: MaxFaultsOption = grading.MOST_FAULTS,
    wait: Annotated[
        float, option("Seconds to wait for bots that are away, once nothing else goes on.", 0)
    ] = 60.0,
    out: Annotated[Path | None, "The folder for grades.csv; one named as the class else."] = None,
) -> Output:
    """Test each student's bot against levels of alphabeta and against reference.

    Run again it goes on where it was: what has been played is not played again. The exit
    status is 3 when bots were away and games are left.
    """
    anchors = _anchors(levels, with_reference=reference)
    folder = out or Path(name)
    make_folder(folder)
    found = get_class(connection, name)
    is_fixed = is_frozen(found.school_class)
    if not is_fixed:
        print_note(
            f"the bots of {name} may still change; freeze them first: "
            f"meijin class deadline {name} now"
        )
    with running_anchors(connection, connection.server, anchors, folder / "anchors"):
        trials = []
        for student, anchor in product(found.students, anchors):
            if student.version_id:
                wanted = _form(student, anchor, time, variant, games, max_faults)
                key = _begin(connection, name, student, anchor, wanted)
                trials.append(Trial(student, anchor, key))
        try:
            _follow(connection, trials, timedelta(seconds=wait))
        finally:
            graded = partial(Grade, total=points, is_frozen=is_fixed)
            grades = _grades(connection, found.students, anchors, trials, graded)
            path = folder / "grades.csv"
            write_private(path, grades_csv(grades), is_new=False)
    value = {"class": name, "file": str(path), "grades": list(map(grade_object, grades))}
    shown = _table(name, grades, anchors, names_of(found.students))
    lines = (shown, _legend(grades), f"with the games as evidence: {path}")
    is_played = all(each.is_played for each in grades)
    return Output(value, lines, None if is_played else typer.Exit(UNFINISHED))


def _anchors(levels: str, *, with_reference: bool) -> list[AnchorBot]:
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


def _form(
    student: pb.Student, anchor: AnchorBot, time: str, variant: str, games: int, max_faults: int
) -> tournament_pb.TournamentSettings:
    """The test, with the same openings for everybody."""
    if games % 2:
        raise CommandError(f"--games {games} is odd; games come in pairs on one opening")
    seed = int.from_bytes(hashlib.sha256(anchor.handle.encode()).digest()[:4])
    wanted = TournamentOptions(
        [student.handle, anchor.handle],
        form="sprt",
        time=time,
        conditions=Conditions(variant, seed=seed),
        unrated=True,
        name=f"{student.handle} - {anchor.handle}",
        max_faults=max_faults,
    ).settings()
    test = grading.sprt()
    test.most_games = games
    wanted.sprt.CopyFrom(test)
    return wanted


def _begin(
    connection: Connection,
    name: str,
    student: pb.Student,
    anchor: AnchorBot,
    wanted: tournament_pb.TournamentSettings,
) -> str:
    """The tournament of a test: the one that an earlier run has made for this version, if any.

    One that was cancelled for another reason than the student's faults goes on.
    """
    told = f"{name} {student.version_id} {anchor.handle} {anchor.options} ".encode()
    told += wanted.SerializeToString(deterministic=True)
    request_id = f"grade-{hashlib.sha256(told).hexdigest()}"
    made = make_tournament(connection, wanted, request_id)
    key = made.tournament_id
    if made.state == tournament_pb.TOURNAMENT_STATE_CANCELLED:
        found = anchor_test(anchor.label, get_tournament(connection, key), ())
        if found.mark is AnchorMark.UNFINISHED:
            set_state(connection, key, RUNNING)
    return key


def _follow(connection: Connection, trials: Sequence[Trial], wait: timedelta) -> None:
    """Show how far the tests are, until all have ended, or none has gone on for too long."""
    rest = TextColumn("{task.description}")
    bar = (TextColumn("tests"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), rest)
    left = [trial.tournament_id for trial in trials]
    tests: dict[str, tournament_pb.Tournament] = {}
    forecast, is_told = Forecast(clock.monotonic()), False
    stuck_since: float | None = None
    with Progress(*bar, console=PlainConsole(stderr=True)) as progress:
        task = progress.add_task("", total=len(trials))
        while True:
            tests |= {key: get_tournament(connection, key).tournament for key in left}
            running = [tests[key] for key in left if tests[key].state == RUNNING]
            left = [each.tournament_id for each in running]
            about = _time_left(forecast, trials, tests)
            progress.update(task, completed=len(trials) - len(left), description=about)
            if about and not is_told:
                progress.console.print(f"{about} for {_size(trials)}")
                is_told = True
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


def _time_left(
    forecast: Forecast, trials: Sequence[Trial], tests: Mapping[str, tournament_pb.Tournament]
) -> str:
    against: dict[str, list[tournament_pb.Tournament]] = {}
    for trial in trials:
        against.setdefault(trial.anchor.label, []).append(tests[trial.tournament_id])
    left = forecast.left(against, clock.monotonic())
    if left is None or left < MINUTE:
        return ""
    return f"about {duration_text(MINUTE * round(left / MINUTE))} left"


def _size(trials: Sequence[Trial]) -> str:
    bots = len({trial.student.handle for trial in trials})
    anchors = len({trial.anchor for trial in trials})
    return f"{bots} bots x {anchors} anchors"


def _grades(
    connection: Connection,
    students: Sequence[pb.Student],
    anchors: Sequence[AnchorBot],
    trials: Sequence[Trial],
    graded: Callable[..., Grade],
) -> list[Grade]:
    tests = {(each.student.handle, each.anchor): _test(connection, each) for each in trials}
    absent = {anchor: AnchorTest(anchor.label, AnchorMark.ABSENT) for anchor in anchors}
    return [
        graded(
            *(each.display_name, each.student_id, each.handle, each.version),
            tuple(tests.get((each.handle, anchor), absent[anchor]) for anchor in anchors),
        )
        for each in students
    ]


def _test(connection: Connection, trial: Trial) -> AnchorTest:
    key = trial.tournament_id
    request = game_pb.ListGamesRequest(tournament_id=key)
    games = read_list(connection.ask, connection.games.ListGames, request).games
    numbers = [int(game.game_id) for game in games]
    return anchor_test(trial.anchor.label, get_tournament(connection, key), numbers)


def _table(
    name: str, grades: Sequence[Grade], anchors: Sequence[AnchorBot], names: Mapping[str, str]
) -> Table:
    def sign(place: int, grade: Grade) -> str:
        test = grade.tests[place]
        games = games_of(test)
        score = f"{scored(test):g}/{games}" if games else ""
        return f"{SIGNS[test.mark][0]} {score}".strip()

    columns = (
        text("student", lambda grade: names[grade.handle]),
        *(text(each.label, partial(sign, place)) for place, each in enumerate(anchors)),
        number("faults", lambda grade: grade.faults or ""),
        number("points", lambda grade: f"{grade.points:.1f}"),
    )
    is_final = all(each.is_final for each in grades)
    return table(f"{name}, grades" if is_final else f"{name}, grades, not final", columns, grades)


def _legend(grades: Sequence[Grade]) -> str:
    """What the signs mean that stand in the table."""
    marks = {test.mark for grade in grades for test in grade.tests}
    return "; ".join(
        f"{sign} {meaning}" for mark, (sign, meaning) in SIGNS.items() if mark in marks
    )

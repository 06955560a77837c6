"""`meijin class`: made from rosters, shown and listed; deadlines, and links for people."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from meijin.cli.classes.anchors import unless_taken
from meijin.cli.classes.copies import copies
from meijin.cli.classes.grades import grade
from meijin.cli.classes.handles import handle_of
from meijin.cli.classes.ladder import ladder
from meijin.cli.classes.report import report
from meijin.cli.classes.roster import (
    ClassArgument,
    Handout,
    RosterEntry,
    get_class,
    is_frozen,
    read_roster,
    student_key,
    token_file,
    write_mail_merge,
)
from meijin.cli.command import Commands, Output, list_output
from meijin.cli.errors import CommandError
from meijin.cli.files import make_folder, read_private, write_private
from meijin.cli.tables import local_time, minutes_east, number, table, text
from meijin.local.connection import Connection, list_bots
from meijin.v1 import class_service_pb2 as pb
from meijin.v1 import hosting_service_pb2 as hosting_pb
from meijin.wire.enums import word_of

app = Commands()

NOW, NEVER = "now", "never"

UPLOAD_HINT = "each student uploads: MEIJIN_TOKEN=... meijin bot upload FILE; or on the bot's page"


def _deadline_text(found: pb.Class) -> str:
    if not found.HasField("deadline"):
        return "no deadline"
    verb = "frozen since" if is_frozen(found) else "frozen from"
    return f"{verb} {local_time(found.deadline)}"


def _seen(student: pb.Student) -> str:
    if student.connected:
        return "connected"
    return local_time(student.seen_time) if student.HasField("seen_time") else "never"


def _program(student: pb.Student) -> str:
    """Such as ``7, refused``."""
    if not student.program_id:
        return "none"
    return f"{student.program_id}, {word_of(hosting_pb.ProgramState, student.program_state)}"


STUDENTS = (
    text("student", "display_name"),
    text("bot", "handle"),
    text("version", lambda row: row.version if row.version_id else "-"),
    text("last seen", _seen),
    number("games"),
    number("late", lambda row: row.late_attempts or ""),
)
PROGRAM = text("newest program", _program)
CLASSES = (text("class", "name"), text("deadline", _deadline_text), number("students"))


@app.command()
def create(
    connection: Connection,
    roster: Annotated[
        Path, "A CSV file whose first line has the titles: name, and id and mail if there are any."
    ],
    name: Annotated[str, "What the class is called, such as CS101."],
    out: Annotated[Path | None, "The folder for the tokens; one named as the class else."] = None,
    deadline: Annotated[
        str | None, "When each bot is frozen, such as 2026-12-01T18:00+01:00."
    ] = None,
    hosted: Annotated[bool, "Students upload their bots, and the arena runs them."] = False,
) -> Output:
    """Give each student of a roster a bot, and write the file with its token.

    Run again with a longer roster it adds those who are new; the others keep their tokens.
    """
    people, folder = read_roster(roster), out or Path(name)
    change = None if deadline is None else _deadline_change(name, deadline)
    make_folder(folder)
    with unless_taken():
        request = pb.CreateClassRequest(name=name, hosted=hosted)
        connection.ask_with_token(connection.classes.CreateClass, request)
    is_hosted = get_class(connection, name).school_class.hosted
    if hosted and not is_hosted:
        raise CommandError(f"{name} is there, and its students' bots connect; give another --name")
    if change is not None:
        connection.ask_with_token(connection.classes.UpdateClass, change)
    students, added = _enrol(connection, name, people, folder)
    server = connection.server.address
    handouts = []
    for person, student in zip(people, students, strict=True):
        token = read_private(token_file(folder, student.handle))
        handouts.append(
            Handout(
                name=person.name,
                id=person.student_id,
                mail=person.mail,
                handle=student.handle,
                token=token,
                server=server,
            )
        )
    merge = write_mail_merge(folder, handouts)
    without = [each.handle for each in handouts if not each.token]
    said = (
        f"{name}: {len(people)} students, {len(added)} of them new; tokens in {folder}, "
        f"table for a mail merge {merge}"
    )
    missing = (
        f"{handle} has a token, and no file of it is in {folder}; "
        f"for a new one: meijin bot register {handle} --rotate"
        for handle in without
    )
    lines = [said, UPLOAD_HINT] if is_hosted else [said]
    value: dict[str, object] = {"class": name, "folder": str(folder), "added": added}
    value |= {"without_token": without, "students": len(people)}
    return Output(value, [*lines, *missing])


@app.command("list")
def list_(connection: Connection) -> Output:
    """List the classes of a server."""
    request, method = pb.ListClassesRequest(), connection.classes.ListClasses
    return list_output(connection.ask_with_token, method, request, "Classes", CLASSES)


@app.command()
def show(connection: Connection, name: ClassArgument) -> Output:
    """Show a class: its students, the versions that count, and who came late."""
    found = get_class(connection, name)
    columns = (*STUDENTS, PROGRAM) if found.school_class.hosted else STUDENTS
    return Output(found, [table(_title(found.school_class), columns, found.students)])


@app.command()
def deadline(
    connection: Connection,
    name: ClassArgument,
    time: Annotated[str, typer.Argument(help="Such as 2026-12-01T18:00+01:00; or now, or never.")],
) -> Output:
    """Set, move or lift the deadline from which on each bot stays the version that it is."""
    change = _deadline_change(name, time)
    response = connection.ask_with_token(connection.classes.UpdateClass, change)
    return Output(response, [_title(response.school_class)])


@app.command()
def people(
    connection: Connection,
    name: ClassArgument,
    number: Annotated[int, typer.Argument(help="How many play at once; 0 ends the link.", min=0)],
) -> Output:
    """Make a link by which people of a class play bots, from any number of addresses."""
    change = pb.UpdateClassRequest(name=name, people=number)
    response = connection.ask_with_token(connection.classes.UpdateClass, change)
    key = response.school_class.play_key
    link = f"/play?class={key} on the server's pages" if key else "no link"
    return Output(response, [f"{name}: {link}"])


app.command()(grade)
app.command()(report)
app.command()(copies)
app.command()(ladder)


def _title(found: pb.Class) -> str:
    return f"{found.name}, {_deadline_text(found)}"


def _deadline_change(name: str, text: str) -> pb.UpdateClassRequest:
    """A deadline at a time, now, which the server's clock tells, or never."""
    if text == NOW:
        zone = minutes_east(datetime.now(UTC).astimezone())
        return pb.UpdateClassRequest(name=name, deadline_now=True, deadline_offset_minutes=zone)
    if text == NEVER:
        return pb.UpdateClassRequest(name=name, without_deadline=True)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(
            f'"{text}" is no time; write it like 2026-12-01T18:00+01:00, or {NOW}, or {NEVER}'
        ) from None
    change = pb.UpdateClassRequest(name=name, deadline_offset_minutes=minutes_east(time))
    change.deadline.FromDatetime(time.astimezone(UTC))  # without a zone it is this machine's
    return change


def _enrol(
    connection: Connection, name: str, people: Sequence[RosterEntry], folder: Path
) -> tuple[list[pb.Student], list[str]]:
    """The students in the roster's order, and the handles of those who are new.

    Each token is in its file before the next is made.
    """
    known = {
        student_key(each.display_name, each.student_id): each
        for each in get_class(connection, name).students
    }
    taken = {bot.name for bot in list_bots(connection, hidden=True)} | {
        each.handle for each in known.values()
    }
    students: list[pb.Student] = []
    added: list[str] = []
    for person in people:
        student = known.get(person.key)
        if student is None:
            student = _add(connection, name, person, folder, number=len(known) + 1, taken=taken)
            known[person.key] = student
            added.append(student.handle)
        students.append(student)
    return students, added


def _add(
    connection: Connection,
    name: str,
    person: RosterEntry,
    folder: Path,
    *,
    number: int,
    taken: set[str],
) -> pb.Student:
    """Add a student, and write the token's file; the handle is added to those that are taken."""
    while True:
        handle = handle_of(person.name, number, taken)
        taken.add(handle)
        path = token_file(folder, handle)
        if path.exists():
            raise CommandError(
                f"{path} is there, and {person.name} is new on this server; move it away, or give "
                "another --out"
            )
        wanted = pb.Student(handle=handle, display_name=person.name, student_id=person.student_id)
        request = pb.UpdateClassRequest(name=name, student=wanted)
        with unless_taken():
            response = connection.ask_with_token(connection.classes.UpdateClass, request)
            write_private(path, f"{response.token}\n")
            return response.student

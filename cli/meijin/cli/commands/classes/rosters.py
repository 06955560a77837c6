"""Classes: made from rosters, shown and listed, and their deadlines."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import grpc
import typer

from meijin.cli.classroom.handles import handle_of
from meijin.cli.classroom.handout import Handout, read_token, token_file, write_mail_merge
from meijin.cli.classroom.roster import Person, read_roster, student_key
from meijin.cli.connection import PAGE, Connection, JsonOption, pages, with_server
from meijin.cli.errors import CommandError
from meijin.cli.output import console, print_json, table
from meijin.cli.private_files import make_folder, write_private
from meijin.v1 import bot_service_pb2 as bot_pb
from meijin.v1 import class_service_pb2 as pb

NOW, NEVER = "now", "never"

ClassArgument = Annotated[str, typer.Argument(help="The class.", metavar="CLASS")]


@dataclass(frozen=True, slots=True)
class Enrolment:
    """What became of a roster."""

    students: Sequence[pb.Student]
    """In the roster's order."""
    added: Sequence[str]
    """The handles of those who are new."""


@with_server
def create(
    connection: Connection,
    roster: Annotated[
        Path,
        typer.Option(
            help="A CSV file whose first line has the titles: name, and id and mail if there are any."
        ),
    ],
    name: Annotated[str, typer.Option(help="What the class is called, such as CS101.")],
    out: Annotated[
        Path | None, typer.Option(help="The folder for the tokens; one named as the class else.")
    ] = None,
    deadline: Annotated[
        str | None, typer.Option(help="When each bot is frozen, such as 2026-12-01T18:00+01:00.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Give each student of a roster a bot, and write the file with its token.

    Run again with a longer roster it adds those who are new; the others keep their tokens.
    """
    people, folder = read_roster(roster), out or Path(name)
    change = None if deadline is None else _deadline_change(name, deadline)
    make_folder(folder)
    _make_class(connection, name)
    if change is not None:
        connection.ask_with_token(connection.classes.UpdateClass, change)
    enrolment = _enrol(connection, name, people, folder)
    handouts = [
        Handout(
            person.name,
            person.mail,
            student.handle,
            read_token(folder, student.handle),
            connection.server.address,
        )
        for person, student in zip(people, enrolment.students, strict=True)
    ]
    merge = write_mail_merge(folder, handouts)
    without = [each.handle for each in handouts if not each.token]
    if as_json:
        shown = {"class": name, "folder": str(folder), "added": list(enrolment.added)}
        print_json({**shown, "without_token": without, "students": len(people)})
        return
    console.print(
        f"{name}: {len(people)} students, {len(enrolment.added)} of them new; tokens in {folder}, "
        f"table for a mail merge {merge}",
        soft_wrap=True,
    )
    for handle in without:
        console.print(
            f"{handle} has a token, and no file of it is in {folder}; "
            f"for a new one: meijin bot register {handle} --rotate",
            soft_wrap=True,
        )


@with_server
def show(connection: Connection, name: ClassArgument, as_json: JsonOption = False) -> None:
    """Show a class: its students, the versions that count, and who came late."""
    response = get_class(connection, name)
    if as_json:
        print_json(response)
        return
    columns = ("student", "bot", "version", "last seen (UTC)", "games", "late")
    made = table(class_title(response.school_class), columns, text_columns=4)
    for student in response.students:
        made.add_row(
            student.display_name,
            student.handle,
            student.version if student.version_id else "-",
            _seen(student),
            str(student.games),
            str(student.late_attempts or ""),
        )
    console.print(made)


@with_server
def list_(connection: Connection, as_json: JsonOption = False) -> None:
    """List the classes of a server."""
    response = pb.ListClassesResponse()
    request = pb.ListClassesRequest(page_size=PAGE)
    ask, method = connection.ask_with_token, connection.classes.ListClasses
    for page in pages(ask, method, request):
        response.classes.extend(page.classes)
    if as_json:
        print_json(response)
        return
    made = table("Classes", ("class", "deadline (UTC)", "students"), text_columns=2)
    for each in response.classes:
        made.add_row(each.name, _deadline_text(each), str(each.students))
    console.print(made)


@with_server
def deadline(
    connection: Connection,
    name: ClassArgument,
    time: Annotated[str, typer.Argument(help="Such as 2026-12-01T18:00+01:00; or now, or never.")],
    as_json: JsonOption = False,
) -> None:
    """Set, move or lift the deadline from which on each bot stays the version that it is."""
    change = _deadline_change(name, time)
    response = connection.ask_with_token(connection.classes.UpdateClass, change)
    if as_json:
        print_json(response)
    else:
        console.print(class_title(response.school_class), soft_wrap=True)


def get_class(connection: Connection, name: str) -> pb.GetClassResponse:
    """A class with its students."""
    return connection.ask_with_token(connection.classes.GetClass, pb.GetClassRequest(name=name))


def class_title(found: pb.Class) -> str:
    """What a class is called, and when its bots are frozen."""
    return f"{found.name}, {_deadline_text(found)}"


def _deadline_text(found: pb.Class) -> str:
    if not found.HasField("deadline"):
        return "no deadline"
    time = found.deadline.ToDatetime(UTC)
    verb = "frozen since" if time <= datetime.now(UTC) else "frozen from"
    return f"{verb} {time:%Y-%m-%d %H:%M} UTC"


def _seen(student: pb.Student) -> str:
    if student.connected:
        return "connected"
    if not student.HasField("seen_time"):
        return "never"
    return f"{student.seen_time.ToDatetime():%Y-%m-%d %H:%M}"


def _deadline_change(name: str, text: str) -> pb.UpdateClassRequest:
    """A deadline at a time, now, which the server's clock tells, or never.

    Raises:
        CommandError: it is no time.
    """
    if text == NOW:
        return pb.UpdateClassRequest(name=name, deadline_now=True)
    if text == NEVER:
        return pb.UpdateClassRequest(name=name, without_deadline=True)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(
            f'"{text}" is no time; write it like 2026-12-01T18:00+01:00, or {NOW}, or {NEVER}'
        ) from None
    change = pb.UpdateClassRequest(name=name)
    change.deadline.FromDatetime(time.astimezone(UTC))  # without a zone it is this machine's
    return change


def _make_class(connection: Connection, name: str) -> None:
    """Make a class, unless there is one."""
    request = pb.CreateClassRequest(name=name)
    try:
        connection.ask_with_token(connection.classes.CreateClass, request)
    except grpc.RpcError as error:
        if not _is_taken(error):
            raise


def _is_taken(error: grpc.RpcError) -> bool:
    return isinstance(error, grpc.Call) and error.code() is grpc.StatusCode.ALREADY_EXISTS


def _enrol(connection: Connection, name: str, people: Sequence[Person], folder: Path) -> Enrolment:
    """Add those who are not in the class yet; each token is in its file before the next is made."""
    known = {
        student_key(each.display_name, each.student_id): each
        for each in get_class(connection, name).students
    }
    taken = _bot_names(connection) | {each.handle for each in known.values()}
    students, added = [], []
    for person in people:
        student = known.get(person.key)
        if student is None:
            student = _add(connection, name, person, folder, number=len(known) + 1, taken=taken)
            known[person.key] = student
            added.append(student.handle)
        students.append(student)
    return Enrolment(students, added)


def _bot_names(connection: Connection) -> set[str]:
    """What the server's bots are called, hidden ones too."""
    request = bot_pb.ListBotsRequest(page_size=PAGE)
    found = pages(connection.ask_with_token, connection.bots.ListBots, request)
    return {bot.name for page in found for bot in page.bots}


def _add(
    connection: Connection, name: str, person: Person, folder: Path, *, number: int, taken: set[str]
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
        try:
            response = connection.ask_with_token(connection.classes.UpdateClass, request)
        except grpc.RpcError as error:
            if not _is_taken(error):
                raise
            continue
        write_private(path, f"{response.token}\n")
        return response.student

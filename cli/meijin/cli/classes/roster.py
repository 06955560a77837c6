"""Who is in a class: CSV files with names, the server's list, and what each student is sent."""

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from meijin.cli.errors import CommandError
from meijin.cli.files import write_private
from meijin.local.connection import Connection
from meijin.v1 import class_service_pb2 as pb
from meijin.wire.text import check_display_name, check_text, to_csv

ClassArgument = Annotated[str, typer.Argument(help="The class.", metavar="CLASS")]

BYTE_ORDER_MARK = "\ufeff"
"""Without it spreadsheets and word processors take UTF-8 for something older."""

DELIMITERS = (",", ";", "\t")

NAME, STUDENT_ID, MAIL = "name", "id", "mail"
TITLES: Mapping[str, str] = {
    **dict.fromkeys(("name", "full name", "student"), NAME),
    **dict.fromkeys(("id", "student id", "number"), STUDENT_ID),
    **dict.fromkeys(("mail", "email", "e-mail"), MAIL),
}
"""What columns are, by their titles in small letters; others are left out."""


class RosterEntry(NamedTuple):
    """A student as the roster has it."""

    name: str
    """As it is shown."""
    student_id: str = ""
    """What tells two students of one name apart; may be empty."""
    mail: str = ""

    @property
    def key(self) -> str:
        return student_key(self.name, self.student_id)


class Handout(NamedTuple):
    """What a student is sent."""

    name: str
    id: str
    mail: str
    handle: str
    token: str
    """Empty where its file is not there."""
    server: str


def get_class(connection: Connection, name: str) -> pb.GetClassResponse:
    return connection.ask_with_token(connection.classes.GetClass, pb.GetClassRequest(name=name))


def is_frozen(found: pb.Class) -> bool:
    """Whether the deadline of a class is over."""
    return found.HasField("deadline") and found.deadline.ToDatetime(UTC) <= datetime.now(UTC)


def names_of(students: Iterable[pb.Student]) -> dict[str, str]:
    """What students are called, by their bots' handles; two of one name have those beside it."""
    names = {each.handle: each.display_name for each in students}
    count = Counter(names.values())
    return {
        handle: f"{name} ({handle})" if count[name] > 1 else name for handle, name in names.items()
    }


def token_file(folder: Path, handle: str) -> Path:
    return folder / f"{handle}.token"


def write_mail_merge(folder: Path, handouts: Iterable[Handout]) -> Path:
    path = folder / "mail-merge.csv"
    write_private(path, spreadsheet([Handout._fields, *handouts]), is_new=False)
    return path


def spreadsheet(rows: Iterable[Sequence[object]]) -> str:
    return BYTE_ORDER_MARK + to_csv(rows, "\r\n")


def student_key(name: str, student_id: str) -> str:
    """What tells students apart: the id, or else the name."""
    return f"id {student_id}" if student_id else f"name {name}"


def read_roster(path: Path) -> Sequence[RosterEntry]:
    """The students of a file, in its order.

    Its first line has the titles: `name`, and, where there are any, `id` and `mail`. Commas,
    semicolons or tabs stand between the columns.
    """
    lines = _text(path).splitlines()
    if not lines:
        raise CommandError(f"{path} is empty; its first line has the titles: name,id,mail")
    rows = csv.reader(lines, delimiter=_delimiter(lines[0]))
    titles = [TITLES.get(title.strip().lower(), "") for title in next(rows)]
    if titles.count(NAME) != 1:
        raise CommandError(f'{path}:1: no column is called "name"; write a line such as name,id')
    found: dict[str, tuple[RosterEntry, int]] = {}
    for row in rows:
        if not any(cell.strip() for cell in row):
            continue
        place = f"{path}:{rows.line_num}"
        person = _person(dict(zip(titles, row, strict=False)), place)
        if person.key in found:
            _, known = found[person.key]
            told = f"id {person.student_id}" if person.student_id else person.name
            raise CommandError(f"{place}: {told} stands in line {known} too; give each an id")
        found[person.key] = person, rows.line_num
    if not found:
        raise CommandError(f"{path} names nobody; write a student a line")
    return [person for person, _ in found.values()]


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CommandError(f"can't read {path}: {error.strerror}") from None
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CommandError(
            f'{path}:{line}: this is not UTF-8; save the table as "CSV UTF-8"'
        ) from None


def _delimiter(line: str) -> str:
    """What stands between the columns: what leaves the most titles that are known."""

    def fitness(delimiter: str) -> tuple[int, int]:
        titles = next(csv.reader([line], delimiter=delimiter))
        known = sum(title.strip().lower() in TITLES for title in titles)
        return known, line.count(delimiter)

    return max(DELIMITERS, key=fitness)


def _person(cells: Mapping[str, str], place: str) -> RosterEntry:
    try:
        return RosterEntry(
            name=check_display_name(cells.get(NAME, "")),
            student_id=check_text(cells.get(STUDENT_ID, "").strip()),
            mail=check_text(cells.get(MAIL, "").strip()),
        )
    except ValueError as error:
        raise CommandError(f"{place}: {error}") from None

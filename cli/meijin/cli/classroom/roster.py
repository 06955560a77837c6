"""Rosters: CSV files with the names of a class's students."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from meijin.cli.errors import CommandError
from meijin.wire.display_name import check_display_name
from meijin.wire.text import check_text

DELIMITERS = (",", ";", "\t")

NAME, STUDENT_ID, MAIL = "name", "id", "mail"
TITLES: Mapping[str, str] = {
    "name": NAME,
    "full name": NAME,
    "student": NAME,
    "id": STUDENT_ID,
    "student id": STUDENT_ID,
    "number": STUDENT_ID,
    "mail": MAIL,
    "email": MAIL,
    "e-mail": MAIL,
}
"""What columns are, by their titles in small letters; others are left out."""


@dataclass(frozen=True, slots=True)
class Person:
    """A student as the roster has it."""

    name: str
    """As it is shown."""
    student_id: str = ""
    """What tells two students of one name apart; may be empty."""
    mail: str = ""

    @property
    def key(self) -> str:
        """What tells whether it is the same student: the id, or else the name."""
        return student_key(self.name, self.student_id)


def student_key(name: str, student_id: str) -> str:
    """What tells students apart: the id, or else the name."""
    return f"id {student_id}" if student_id else f"name {name}"


def read_roster(path: Path) -> Sequence[Person]:
    """The students of a file, in its order.

    Its first line has the titles: `name`, and, where there are any, `id` and `mail`. Commas,
    semicolons or tabs stand between the columns.

    Raises:
        CommandError: it can't be read, or names nobody, or somebody twice; the message has the
            file and the line.
    """
    lines = _text(path).splitlines()
    if not lines:
        raise CommandError(f"{path} is empty; its first line has the titles: name,id,mail")
    rows = csv.reader(lines, delimiter=_delimiter(lines[0]))
    titles = [TITLES.get(title.strip().lower(), "") for title in next(rows)]
    if titles.count(NAME) != 1:
        raise CommandError(f'{path}:1: no column is called "name"; write a line such as name,id')
    found: dict[str, Person] = {}
    lines_of: dict[str, int] = {}
    for row in rows:
        if not any(cell.strip() for cell in row):
            continue
        place = f"{path}:{rows.line_num}"
        person = _person(dict(zip(titles, row, strict=False)), place)
        if person.key in found:
            known = lines_of[person.key]
            told = f"id {person.student_id}" if person.student_id else person.name
            raise CommandError(f"{place}: {told} stands in line {known} too; give each an id")
        found[person.key], lines_of[person.key] = person, rows.line_num
    if not found:
        raise CommandError(f"{path} names nobody; write a student a line")
    return list(found.values())


def _text(path: Path) -> str:
    """A file's text, in UTF-8 with or without a mark, or in UTF-16 with one."""
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
    return max(DELIMITERS, key=lambda each: (_known(line, each), line.count(each)))


def _known(line: str, delimiter: str) -> int:
    titles = next(csv.reader([line], delimiter=delimiter))
    return sum(title.strip().lower() in TITLES for title in titles)


def _person(cells: Mapping[str, str], place: str) -> Person:
    try:
        return Person(
            name=check_display_name(cells.get(NAME, "")),
            student_id=check_text(cells.get(STUDENT_ID, "").strip()),
            mail=check_text(cells.get(MAIL, "").strip()),
        )
    except ValueError as error:
        raise CommandError(f"{place}: {error}") from None

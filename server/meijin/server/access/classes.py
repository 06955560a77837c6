"""Classes: made, filled with students, and given deadlines."""

import secrets
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from meijin.server.access.bots import add_bot_token
from meijin.server.access.caller import Caller
from meijin.server.errors import InvalidRequestError, QuotaError, invalid_request
from meijin.store import bots
from meijin.store.access import classes
from meijin.store.access.audit import Facts
from meijin.store.access.classes import ClassRow
from meijin.store.rows import add_row, change_row
from meijin.store.schema import STUDENT_ID, ClassMember, SchoolClass
from meijin.wire.contract import check_bot_name
from meijin.wire.text import check_display_name, check_text, minute_text

MAX_STUDENTS = 1000
"""Of a class: they are listed in one message."""

_KEY_BYTES = 9
"""Of the random end of a link."""

MINUTES_A_DAY = 24 * 60
"""No zone is as far from UTC."""


@dataclass(frozen=True, slots=True)
class NewStudent:
    handle: str
    display_name: str
    student_id: str


@dataclass(frozen=True, slots=True)
class ClassUpdate:
    deadline: datetime | None = None
    """``None`` leaves it as it is."""
    deadline_offset_minutes: int | None = None
    """East of UTC, of the zone in which students are told it."""
    deadline_now: bool = False
    without_deadline: bool = False
    student: NewStudent | None = None
    """Who is added; ``None`` for nobody."""
    people: int | None = None
    """How many of its people may play at once, by a link; ``None`` leaves it as it is."""

    @property
    def moves_deadline(self) -> bool:
        return self.deadline is not None or self.deadline_now or self.without_deadline

    def checked(self, now: datetime, most_people: int) -> "ClassUpdate":
        """The change with the student as kept, and the deadline as an instant.

        Raises:
            InvalidRequestError: the deadline is past or of no zone, the bot or the student
                can't be called so, or there are more people than may play here.
        """
        if self.people is not None and self.people > most_people:
            raise InvalidRequestError(
                f"people: {self.people} are more than this server's setting people_games, "
                f"{most_people}"
            )
        offset = self.deadline_offset_minutes
        if offset is not None and abs(offset) >= MINUTES_A_DAY:
            raise InvalidRequestError(f"deadline_offset_minutes: {offset} is a day or more")
        check_deadline(self.deadline, now, offset)
        if (self.deadline is not None) + self.deadline_now + self.without_deadline > 1:
            raise InvalidRequestError("deadline: give a time, or now, or none")
        student = None if self.student is None else _checked(self.student)
        return replace(self, deadline=now if self.deadline_now else self.deadline, student=student)


def check_deadline(
    deadline: datetime | None, now: datetime, offset_minutes: int | None = None
) -> None:
    """See that a deadline is to come: which version was there at a time that is past is not kept.

    Raises:
        InvalidRequestError: it is past.
    """
    if deadline is not None and deadline <= now:
        past = minute_text(deadline, offset_minutes)
        raise InvalidRequestError(f"deadline: {past} is past; give a time to come, or now itself")


def _checked(student: NewStudent) -> NewStudent:
    with invalid_request("handle"):
        handle = check_bot_name(student.handle)
    with invalid_request("display_name"):
        display_name = check_display_name(student.display_name)
    with invalid_request("student_id"):
        student_id = check_text(student.student_id).strip()
        if len(student_id) > STUDENT_ID:
            raise ValueError(f"it is longer than {STUDENT_ID} characters")
    return NewStudent(handle, display_name, student_id)


def create(
    connection: Connection,
    caller: Caller,
    name: str,
    deadline: datetime | None,
    *,
    is_hosted: bool,
) -> ClassRow:
    """Make a class.

    Args:
        is_hosted: The arena runs its bots.

    Raises:
        IntegrityError: there is one of that name.
    """
    row = SchoolClass(name=name, create_time=caller.time, deadline=deadline, is_hosted=is_hosted)
    add_row(connection, row)
    made = classes.get_class(connection, name)
    caller.note(connection, "make", f"class {name}", after=_facts(made))
    return made


def update(
    connection: Connection, caller: Caller, name: str, change: ClassUpdate, secret: str
) -> ClassRow:
    """Set, move or lift a deadline, and register a student's bot with its token.

    Raises:
        IntegrityError: there is a bot of that handle.
        QuotaError: the class is full.
        RowNotFoundError: there is no such class.
    """
    before = classes.get_class(connection, name)
    if change.student is not None:
        _add_student(connection, caller, before, change.student, secret)
    if change.moves_deadline:
        zone = {"deadline_offset_minutes": change.deadline_offset_minutes}
        change_row(connection, SchoolClass, before.id, deadline=change.deadline, **zone)
    if change.people is not None:
        _set_people(connection, caller, before, change.people)
    after = classes.get_class(connection, name)
    if change.moves_deadline:
        facts = {"before": _facts(before), "after": _facts(after)}
        caller.note(connection, "set the deadline", f"class {name}", **facts)
    return after


def _set_people(connection: Connection, caller: Caller, of: ClassRow, people: int) -> None:
    """Let so many people play by the class's link, which is made for the first of them."""
    key = (of.play_key or secrets.token_urlsafe(_KEY_BYTES)) if people else None
    change_row(connection, SchoolClass, of.id, people=people, play_key=key)
    before, after = {"people": of.people}, {"people": people}
    caller.note(connection, "set the people", f"class {of.name}", before=before, after=after)


def _add_student(
    connection: Connection, caller: Caller, to: ClassRow, student: NewStudent, secret: str
) -> None:
    if to.students >= MAX_STUDENTS:
        raise QuotaError(f"{to.name} has {MAX_STUDENTS} students, the most; make another class")
    display_name = student.display_name
    bot_id = bots.add_bot(connection, student.handle, caller.time, display_name=display_name)
    member = ClassMember(bot_id=bot_id, class_id=to.id, student_id=student.student_id)
    add_row(connection, member)
    add_bot_token(connection, caller, bot_id, secret)
    after = {"class": to.name, "display_name": display_name}
    caller.note(connection, "register", f"bot {student.handle}", after=after)


def _facts(found: ClassRow) -> Facts:
    return {"deadline": None if found.deadline is None else found.deadline.isoformat()}

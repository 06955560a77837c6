"""Classes: made, filled with students, and given deadlines."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from meijin.server.access.bots import add_bot_token
from meijin.server.access.caller import Caller
from meijin.server.errors import (
    InvalidRequestError,
    NameTakenError,
    QuotaError,
    invalid_request,
)
from meijin.server.storage import Storage
from meijin.store import bots, classes
from meijin.store.access.audit import Facts, add_act
from meijin.store.access.tokens import new_secret
from meijin.store.classes import ClassRow
from meijin.store.schema import STUDENT_ID, TokenKind
from meijin.wire.contract import check_bot_name
from meijin.wire.display_name import check_display_name
from meijin.wire.text import check_text

MAX_STUDENTS = 1000
"""Of a class: they are listed in one message."""


@dataclass(frozen=True, slots=True)
class NewStudent:
    """A student who is added to a class."""

    handle: str
    display_name: str
    student_id: str


@dataclass(frozen=True, slots=True)
class ClassUpdate:
    """What is to change of a class."""

    deadline: datetime | None = None
    """``None`` leaves it as it is."""
    deadline_now: bool = False
    without_deadline: bool = False
    student: NewStudent | None = None
    """Who is added; ``None`` for nobody."""

    @property
    def moves_deadline(self) -> bool:
        return self.deadline is not None or self.deadline_now or self.without_deadline


class ClassControl:
    """Classes, made and changed."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def create(self, caller: Caller, name: str, deadline: datetime | None) -> ClassRow:
        """Make a class.

        Raises:
            InvalidRequestError: no class can be called so, or the deadline is past.
            NameTakenError: there is one of that name.
        """
        now = datetime.now(UTC)
        with invalid_request("name"):
            check_bot_name(name)
        _check_deadline(deadline, now)
        try:
            return await self._storage.write(_create, caller, name, deadline, now)
        except IntegrityError:
            raise NameTakenError(f'a class "{name}" exists; take another name') from None

    async def update(
        self, caller: Caller, name: str, change: ClassUpdate
    ) -> tuple[ClassRow, NewStudent | None, str]:
        """Set, move or lift a deadline, and register a student's bot.

        Returns:
            The class as it is now, the student as kept, and the token of the student's bot.

        Raises:
            InvalidRequestError: the deadline is past, or the bot or the student can't be called so.
            NameTakenError: there is a bot of that handle.
            NotFoundError: there is no such class.
            QuotaError: the class is full.
        """
        now = datetime.now(UTC)
        _check_deadline(change.deadline, now)
        if (change.deadline is not None) + change.deadline_now + change.without_deadline > 1:
            raise InvalidRequestError("deadline: give a time, or now, or none")
        if change.deadline_now:
            change = replace(change, deadline=now)
        if change.student is None:
            return await self._storage.write(_update, caller, name, change, now=now), None, ""
        student, secret = _checked(change.student), new_secret(TokenKind.BOT.value)
        change = replace(change, student=student)
        try:
            found = await self._storage.write(_update, caller, name, change, now=now, secret=secret)
        except IntegrityError:
            raise NameTakenError(f'a bot "{student.handle}" exists; take another handle') from None
        return found, student, secret


def _check_deadline(deadline: datetime | None, now: datetime) -> None:
    """See that a deadline is to come: which version was there at a time that is past is not kept."""
    with invalid_request("deadline"):
        if deadline is not None and deadline <= now:
            raise ValueError(
                f"{deadline:%Y-%m-%d %H:%M} UTC is past; give a time to come, or now itself"
            )


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


def _create(
    connection: Connection, caller: Caller, name: str, deadline: datetime | None, now: datetime
) -> ClassRow:
    classes.add_class(connection, name, now, deadline)
    made = classes.get_class(connection, name)
    add_act(connection, caller.act("make", f"class {name}", now, after=_facts(made)))
    return made


def _update(
    connection: Connection,
    caller: Caller,
    name: str,
    change: ClassUpdate,
    *,
    now: datetime,
    secret: str = "",
) -> ClassRow:
    before = classes.get_class(connection, name)
    if change.student is not None:
        _add_student(connection, caller, before, student=change.student, secret=secret, now=now)
    if change.moves_deadline:
        classes.set_deadline(connection, before.id, change.deadline)
    after = classes.get_class(connection, name)
    if change.moves_deadline:
        facts = {"before": _facts(before), "after": _facts(after)}
        add_act(connection, caller.act("set the deadline", f"class {name}", now, **facts))
    return after


def _add_student(
    connection: Connection,
    caller: Caller,
    to: ClassRow,
    *,
    student: NewStudent,
    secret: str,
    now: datetime,
) -> None:
    if to.students >= MAX_STUDENTS:
        raise QuotaError(f"{to.name} has {MAX_STUDENTS} students, the most; make another class")
    bot_id = bots.add_bot(connection, student.handle, now, display_name=student.display_name)
    classes.add_student(connection, to.id, bot_id, student.student_id)
    add_bot_token(connection, caller, bot_id, secret, now)
    after = {"class": to.name, "display_name": student.display_name}
    add_act(connection, caller.act("register", f"bot {student.handle}", now, after=after))


def _facts(found: ClassRow) -> Facts:
    return {"deadline": None if found.deadline is None else found.deadline.isoformat()}

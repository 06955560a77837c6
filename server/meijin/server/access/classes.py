"""Classes: made, filled with students, and given deadlines."""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from meijin.server.access.bots import add_bot_token
from meijin.server.access.caller import Caller
from meijin.server.errors import NameTakenError, QuotaError, invalid_request
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
"""Of a class: they are told in one message."""


@dataclass(frozen=True, slots=True)
class NewStudent:
    """A student who is added to a class."""

    class_name: str
    handle: str
    display_name: str
    student_id: str


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
        work = partial(_create, caller=caller, name=name, deadline=deadline, now=now)
        try:
            return await self._storage.write(work)
        except IntegrityError:
            raise NameTakenError(f'a class "{name}" exists; take another name') from None

    async def add(self, caller: Caller, student: NewStudent) -> tuple[NewStudent, str]:
        """Register a student's bot; return the student as kept, and the bot's token.

        Raises:
            InvalidRequestError: the bot or the student can't be called so.
            NameTakenError: there is a bot of that handle.
            NotFoundError: there is no such class.
            QuotaError: the class is full.
        """
        kept = _checked(student)
        secret = new_secret(TokenKind.BOT.value)
        work = partial(_add, caller=caller, student=kept, secret=secret, now=datetime.now(UTC))
        try:
            await self._storage.write(work)
        except IntegrityError:
            raise NameTakenError(f'a bot "{kept.handle}" exists; take another handle') from None
        return kept, secret

    async def set_deadline(
        self, caller: Caller, name: str, deadline: datetime | None, *, is_now: bool
    ) -> ClassRow:
        """Set, move or lift a deadline.

        Raises:
            InvalidRequestError: it is past.
            NotFoundError: there is no such class.
        """
        now = datetime.now(UTC)
        if is_now:
            deadline = now
        else:
            _check_deadline(deadline, now)
        work = partial(_set_deadline, caller=caller, name=name, deadline=deadline, now=now)
        return await self._storage.write(work)


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
    return NewStudent(student.class_name, handle, display_name, student_id)


def _create(
    connection: Connection,
    *,
    caller: Caller,
    name: str,
    deadline: datetime | None,
    now: datetime,
) -> ClassRow:
    classes.add_class(connection, name, now, deadline)
    made = classes.get_class(connection, name)
    add_act(connection, caller.act("make", f"class {name}", now, after=_facts(made)))
    return made


def _add(
    connection: Connection, *, caller: Caller, student: NewStudent, secret: str, now: datetime
) -> None:
    found = classes.get_class(connection, student.class_name)
    if found.students >= MAX_STUDENTS:
        raise QuotaError(f"{found.name} has {MAX_STUDENTS} students, the most; make another class")
    bot_id = bots.add_bot(connection, student.handle, now, display_name=student.display_name)
    classes.add_student(connection, found.id, bot_id, student.student_id)
    add_bot_token(connection, caller, bot_id, secret, now)
    after = {"class": found.name, "display_name": student.display_name}
    add_act(connection, caller.act("register", f"bot {student.handle}", now, after=after))


def _set_deadline(
    connection: Connection,
    *,
    caller: Caller,
    name: str,
    deadline: datetime | None,
    now: datetime,
) -> ClassRow:
    before = classes.get_class(connection, name)
    classes.set_deadline(connection, before.id, deadline)
    after = classes.get_class(connection, name)
    act = caller.act(
        "set the deadline", f"class {name}", now, before=_facts(before), after=_facts(after)
    )
    add_act(connection, act)
    return after


def _facts(found: ClassRow) -> Facts:
    """What a change of a class is told by."""
    return {"deadline": None if found.deadline is None else found.deadline.isoformat()}

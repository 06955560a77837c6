"""Classes, their students, and which version of each counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, select, update

from meijin.store.errors import UnknownClassError
from meijin.store.rows import add_row, columns_of, read_row, read_rows
from meijin.store.schema import (
    Bot,
    BotId,
    BotVersion,
    BotVersionId,
    ClassId,
    ClassMember,
    SchoolClass,
)
from meijin.store.similar import did_you_mean


@dataclass(frozen=True, slots=True)
class ClassRow:
    """A class as it is listed."""

    id: ClassId
    name: str
    create_time: datetime
    deadline: datetime | None
    """``None`` while there is none."""
    students: int
    """How many it has."""


@dataclass(frozen=True, slots=True)
class StudentRow:
    """A student's bot as it is listed."""

    bot_id: BotId
    handle: str
    display_name: str
    student_id: str
    version_id: BotVersionId | None
    """The version that counts; ``None`` before there is one."""
    version: str
    """Its label; may be empty."""
    seen_time: datetime | None
    """When a stream of it was open last, to a minute."""
    games: int
    """Finished ones, of all versions."""
    late_attempts: int
    late_time: datetime | None


@dataclass(frozen=True, slots=True)
class Membership:
    """What a bot's class asks of it."""

    class_name: str
    deadline: datetime | None
    version_id: BotVersionId | None
    """The version that was let in last before the deadline; ``None`` before the first."""
    digest: str
    """Of that version; empty without one."""
    label: str
    """Of that version; may be empty."""

    def is_late(self, digest: str, now: datetime) -> bool:
        """Whether a version comes after the deadline and isn't the one that counts."""
        is_over = self.deadline is not None and now >= self.deadline
        return is_over and (self.version_id is None or digest != self.digest)


def add_class(
    connection: Connection, name: str, now: datetime, deadline: datetime | None
) -> ClassId:
    """Keep a new class.

    Raises:
        sqlalchemy.exc.IntegrityError: the name is taken.
    """
    return add_row(connection, SchoolClass(name=name, create_time=now, deadline=deadline)).id


def get_class(connection: Connection, name: str) -> ClassRow:
    """The class of that name.

    Raises:
        UnknownClassError: there is none.
    """
    query = select(*_CLASS).where(SchoolClass.name == name)
    row = read_row(ClassRow, connection.execute(query))
    if row is None:
        hint = did_you_mean(connection, SchoolClass.name, name) or "list the classes to see them"
        raise UnknownClassError(f'no class "{name}"; {hint}')
    return row


def list_classes(connection: Connection, *, limit: int, after: str = "") -> Sequence[ClassRow]:
    """Classes in the order of their names, from the one after `after`."""
    query = select(*_CLASS).where(SchoolClass.name > after).order_by(SchoolClass.name)
    return read_rows(ClassRow, connection.execute(query.limit(limit)))


def set_deadline(connection: Connection, class_id: ClassId, deadline: datetime | None) -> None:
    """Set or move the deadline of a class; ``None`` lifts it."""
    change = update(SchoolClass).where(SchoolClass.id == class_id)
    connection.execute(change.values(deadline=deadline))


def add_student(
    connection: Connection, class_id: ClassId, bot_id: BotId, student_id: str = ""
) -> None:
    """Put a bot into a class."""
    add_row(connection, ClassMember(bot_id=bot_id, class_id=class_id, student_id=student_id))


def list_students(connection: Connection, class_id: ClassId, *, limit: int) -> Sequence[StudentRow]:
    """The students of a class, in the order in which they were added."""
    query = (
        select(*_STUDENT)
        .select_from(ClassMember)
        .join(Bot, Bot.id == ClassMember.bot_id)
        .outerjoin(BotVersion, BotVersion.id == ClassMember.version_id)
        .where(ClassMember.class_id == class_id)
        .order_by(ClassMember.bot_id)
    )
    return read_rows(StudentRow, connection.execute(query.limit(limit)))


def keep_submission(connection: Connection, bot_id: BotId, version_id: BotVersionId) -> None:
    """Keep the version that a bot was let in with, if it is in a class."""
    change = update(ClassMember).where(ClassMember.bot_id == bot_id)
    connection.execute(change.values(version_id=version_id))


def count_late_attempt(connection: Connection, bot_id: BotId, now: datetime) -> None:
    """Count that another version came after the deadline."""
    change = update(ClassMember).where(ClassMember.bot_id == bot_id)
    attempts = ClassMember.late_attempts + 1
    connection.execute(change.values(late_attempts=attempts, late_time=now))


_STUDENTS = (
    select(func.count())
    .where(ClassMember.class_id == SchoolClass.id)
    .correlate(SchoolClass)
    .scalar_subquery()
)
_CLASS = columns_of(ClassRow, SchoolClass, students=_STUDENTS)


_STUDENT = columns_of(
    StudentRow,
    ClassMember,
    Bot,
    handle=Bot.name,
    seen_time=Bot.last_seen_time,
    version=func.coalesce(BotVersion.label, ""),
)

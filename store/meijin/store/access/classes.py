"""Classes, their students, and which version of each counts."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, func, select, update

from meijin.store.errors import RowNotFoundError, did_you_mean
from meijin.store.rows import columns_of, read_row, read_rows
from meijin.store.schema import (
    Bot,
    BotId,
    BotVersion,
    BotVersionId,
    ClassId,
    ClassMember,
    Program,
    ProgramId,
    ProgramState,
    SchoolClass,
    computed,
)

_STUDENTS = (
    select(func.count())
    .where(ClassMember.class_id == SchoolClass.id)
    .correlate(SchoolClass)
    .scalar_subquery()
)

_NEWEST_PROGRAM = (
    select(func.max(Program.id))
    .where(Program.bot_id == ClassMember.bot_id)
    .correlate(ClassMember)
    .scalar_subquery()
)


class ClassRow(SchoolClass):
    """A class as it is listed."""

    students: int = computed(_STUDENTS)
    """How many it has."""


class StudentRow(ClassMember):
    """A student's bot as it is listed."""

    handle: str = computed(Bot.name)
    display_name: str = computed(Bot.display_name)
    version: str = computed(func.coalesce(BotVersion.label, ""))
    """The label of the version that counts; may be empty."""
    submit_time: datetime | None = computed(BotVersion.create_time)
    """When that version first came."""
    doctor_time: datetime | None = computed(BotVersion.doctor_time)
    """When it was last reported to have passed the doctor."""
    seen_time: datetime | None = computed(Bot.last_seen_time)
    """When a stream of it was open last, to a minute."""
    games: int = computed(Bot.games)
    """Finished ones, of all versions."""
    program_id: ProgramId | None = computed(Program.id)
    """The newest that was uploaded; ``None`` before the first."""
    program_state: ProgramState | None = computed(Program.state)


def get_class(connection: Connection, name: str) -> ClassRow:
    """The class of that name.

    Raises:
        RowNotFoundError: there is none.
    """
    query = select(*columns_of(ClassRow)).where(SchoolClass.name == name)
    row = read_row(ClassRow, connection.execute(query))
    if row is None:
        hint = did_you_mean(connection, SchoolClass.name, name) or "list the classes to see them"
        raise RowNotFoundError(f'no class "{name}"; {hint}')
    return row


def class_of_key(connection: Connection, play_key: str) -> ClassRow | None:
    """The class whose people come by a link that ends with a key."""
    query = select(*columns_of(ClassRow)).where(SchoolClass.play_key == play_key)
    return read_row(ClassRow, connection.execute(query))


def list_classes(
    connection: Connection, *, limit: int, after: str = "", bot_id: BotId | None = None
) -> Sequence[ClassRow]:
    """Classes in the order of their names, from the one after `after`.

    Args:
        bot_id: Only that of this bot.
    """
    query = select(*columns_of(ClassRow)).where(SchoolClass.name > after)
    if bot_id is not None:
        own = select(ClassMember.class_id).where(ClassMember.bot_id == bot_id)
        query = query.where(SchoolClass.id.in_(own))
    query = query.order_by(SchoolClass.name)
    return read_rows(ClassRow, connection.execute(query.limit(limit)))


def list_students(
    connection: Connection, class_id: ClassId, *, limit: int, bot_id: BotId | None = None
) -> Sequence[StudentRow]:
    """The students of a class, in the order in which they were added.

    Args:
        bot_id: Only the one of this bot.
    """
    query = (
        select(*columns_of(StudentRow))
        .select_from(ClassMember)
        .join(Bot, Bot.id == ClassMember.bot_id)
        .outerjoin(BotVersion, BotVersion.id == ClassMember.version_id)
        .outerjoin(Program, Program.id == _NEWEST_PROGRAM)
        .where(ClassMember.class_id == class_id)
        .order_by(ClassMember.bot_id)
    )
    if bot_id is not None:
        query = query.where(ClassMember.bot_id == bot_id)
    return read_rows(StudentRow, connection.execute(query.limit(limit)))


def keep_submission(connection: Connection, bot_id: BotId, version_id: BotVersionId) -> None:
    """Keep the version that a bot has come with, if it is in a class."""
    change = update(ClassMember).where(ClassMember.bot_id == bot_id)
    connection.execute(change.values(version_id=version_id))


def count_late_attempt(connection: Connection, bot_id: BotId, now: datetime) -> None:
    """Count that another version came after the deadline."""
    change = update(ClassMember).where(ClassMember.bot_id == bot_id)
    attempts = ClassMember.late_attempts + 1
    connection.execute(change.values(late_attempts=attempts, late_time=now))

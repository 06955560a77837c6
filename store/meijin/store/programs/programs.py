"""Programs: added once for a bot and a digest, listed, and changed."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, false, func, select, update

from meijin.programs.kinds import ProgramKind
from meijin.store.access.classes import keep_submission
from meijin.store.access.versions import versions_of
from meijin.store.errors import RowNotFoundError
from meijin.store.rows import add_row, change_row, columns_of, read_row, read_rows
from meijin.store.schema import (
    Bot,
    BotId,
    OwnerId,
    Program,
    ProgramId,
    ProgramState,
    computed,
)


class ProgramRow(Program):
    """A program as it is listed."""

    bot: str = computed(Bot.name)
    owner_id: OwnerId | None = computed(Bot.owner_id)
    """Its bot's."""
    is_current: bool = computed(func.coalesce(Bot.program_id == Program.id, false()))
    """Its bot plays with it, while it is admitted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewProgram:
    """A program all of whose bytes are there."""

    bot_id: BotId
    digest: str
    kind: ProgramKind
    size: int
    file_name: str
    label: str
    uploader: str


@dataclass(frozen=True, slots=True)
class ProgramHoldings:
    """What an owner, or a bot without one, has of programs that are not retired."""

    programs: int
    size: int
    """Bytes of all of them."""


def add_program(connection: Connection, new: NewProgram, now: datetime) -> tuple[ProgramRow, bool]:
    """Keep a program that waits to be examined; one that was retired is examined anew.

    Returns:
        The program, and whether the bot had it already, which then stays as it is.
    """
    found = find_program(connection, new.bot_id, new.digest)
    if found is None:
        row = Program(**asdict(new), create_time=now, update_time=now)
        return get_program(connection, add_row(connection, row).id), False
    if found.state is not ProgramState.RETIRED:
        return found, True
    set_state(connection, found, ProgramState.UPLOADED, now)
    change_row(connection, Program, found.id, **asdict(new), create_time=now, findings=())
    return get_program(connection, found.id), False


def find_program(connection: Connection, bot_id: BotId, digest: str) -> ProgramRow | None:
    """The program of a bot that has this digest, if any."""
    query = _listed().where(Program.bot_id == bot_id, Program.digest == digest)
    return read_row(ProgramRow, connection.execute(query))


def get_program(connection: Connection, program_id: ProgramId) -> ProgramRow:
    """A program as it is listed.

    Raises:
        RowNotFoundError: there is none.
    """
    query = _listed().where(Program.id == program_id)
    row = read_row(ProgramRow, connection.execute(query))
    if row is None:
        raise RowNotFoundError(f"no program {program_id}; list the programs to see their ids")
    return row


def current_program(connection: Connection, bot_id: BotId) -> ProgramRow | None:
    """The program that a bot plays with; ``None`` where it has none, or none that may play."""
    query = _listed().where(
        Program.bot_id == bot_id,
        Program.id == Bot.program_id,
        Program.state == ProgramState.ADMITTED,
    )
    return read_row(ProgramRow, connection.execute(query))


def list_programs(
    connection: Connection,
    *,
    limit: int,
    before: int | None = None,
    bot_id: BotId | None = None,
    owner_id: OwnerId | None = None,
    state: ProgramState | None = None,
) -> Sequence[ProgramRow]:
    """Programs, newest first, from the one before the id `before`.

    Args:
        bot_id: Only those of this bot.
        owner_id: Only those of this owner's bots.
        state: Only those in this state.
    """
    query = _listed().order_by(Program.id.desc()).limit(limit)
    if before is not None:
        query = query.where(Program.id < before)
    if bot_id is not None:
        query = query.where(Program.bot_id == bot_id)
    if owner_id is not None:
        query = query.where(Bot.owner_id == owner_id)
    if state is not None:
        query = query.where(Program.state == state)
    return read_rows(ProgramRow, connection.execute(query))


def holdings(
    connection: Connection, *, bot_id: BotId | None, owner_id: OwnerId | None
) -> ProgramHoldings:
    """What an owner has of programs; a bot, where it has no owner."""
    query = (
        select(func.count(), func.coalesce(func.sum(Program.size), 0))
        .select_from(Program)
        .join(Bot, Bot.id == Program.bot_id)
        .where(Program.state != ProgramState.RETIRED, belongs_to(bot_id, owner_id))
    )
    programs, size = connection.execute(query).one()
    return ProgramHoldings(programs, int(size))


def belongs_to(bot_id: BotId | None, owner_id: OwnerId | None) -> ColumnElement[bool]:
    """Whether a bot counts for an owner's quotas; without an owner each bot has its own."""
    return Bot.id == bot_id if owner_id is None else Bot.owner_id == owner_id


def digests_in_use(connection: Connection) -> set[str]:
    """The digests whose bytes are to be kept: those of programs that are not retired."""
    query = select(Program.digest).where(Program.state != ProgramState.RETIRED).distinct()
    return set(connection.scalars(query))


def set_state(
    connection: Connection,
    program: Program,
    state: ProgramState,
    now: datetime,
    reason: str = "",
) -> bool:
    """Change the state that a program was read in; false where it has another one by now."""
    change = (
        update(Program)
        .where(Program.id == program.id, Program.state == program.state)
        .values(state=state, reason=reason, update_time=now, lease_time=None)
    )
    return bool(connection.execute(change).rowcount)


def retire(connection: Connection, program: Program, now: datetime) -> bool:
    """Take a program back, whose bot then plays with none; false where its state has changed."""
    if not set_state(connection, program, ProgramState.RETIRED, now):
        return False
    change = update(Bot).where(Bot.id == program.bot_id, Bot.program_id == program.id)
    connection.execute(change.values(program_id=None))
    return True


def make_current(connection: Connection, program: Program) -> None:
    """Have a bot play with this admitted program of its from the next game on.

    In a class it is handed in by that.
    """
    change_row(connection, Bot, program.bot_id, program_id=program.id)
    versions = versions_of(connection, program.bot_id, program.digest)
    if versions:
        keep_submission(connection, program.bot_id, versions[0].id)


def _listed() -> Select[*tuple[Any, ...]]:
    return select(*columns_of(ProgramRow)).select_from(Program).join(Bot, Bot.id == Program.bot_id)

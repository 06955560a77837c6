"""Programs as players: those that may be called for a game."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, case, func, select

from meijin.store.programs.programs import ProgramRow
from meijin.store.rows import columns_of, read_rows
from meijin.store.schema import (
    Bot,
    BotId,
    BotState,
    BotVersion,
    BotVersionId,
    Owner,
    OwnerId,
    Program,
    ProgramDay,
    ProgramId,
    ProgramState,
    computed,
)

_VERSION_ID = (
    select(func.max(BotVersion.id))
    .where(BotVersion.bot_id == Program.bot_id, BotVersion.digest == Program.digest)
    .scalar_subquery()
)
_MAY_PLAY = (
    Program.id == Bot.program_id,
    Program.state == ProgramState.ADMITTED,
    Bot.state == BotState.ACTIVE,
)


class CallableRow(ProgramRow):
    """A program that its bot plays with, and that may play."""

    version_id: BotVersionId | None = computed(_VERSION_ID)
    """The newest version that it has played as."""
    is_hidden: bool = computed(Bot.is_hidden)
    """Its bot is left out of lists."""


def callable_ids(
    connection: Connection, now: datetime, cpu_quota: timedelta
) -> Mapping[ProgramId, BotVersionId | None]:
    """The programs that may be called, with the newest versions that they have played as.

    Those of an owner that has used up its processor time of the day may not; a bot without an owner
    has a quota of its own.

    Args:
        cpu_quota: Of a day in UTC, where nothing else is said of an owner.
    """
    query = (
        select(
            Program.id,
            _VERSION_ID.label("version_id"),
            Bot.id.label("bot_id"),
            Bot.owner_id,
            Owner.program_cpu_quota,
        )
        .join(Bot, Bot.id == Program.bot_id)
        .outerjoin(Owner, Owner.id == Bot.owner_id)
        .where(*_MAY_PLAY)
    )
    used = _cpu_of_day(connection, now)
    found = {}
    for row in connection.execute(query):
        quota = (
            cpu_quota if row.program_cpu_quota is None else timedelta(seconds=row.program_cpu_quota)
        )
        if used.get((row.owner_id, None if row.owner_id else row.bot_id), timedelta(0)) < quota:
            found[row.id] = row.version_id
    return found


def _cpu_of_day(
    connection: Connection, now: datetime
) -> Mapping[tuple[OwnerId | None, BotId | None], timedelta]:
    """The processor time of each owner's programs today; of each bot's that has no owner."""
    bot_id = case((Bot.owner_id.is_(None), Bot.id), else_=None)
    query = (
        select(Bot.owner_id, bot_id.label("bot_id"), func.sum(ProgramDay.cpu_ms).label("cpu_ms"))
        .select_from(ProgramDay)
        .join(Program, Program.id == ProgramDay.program_id)
        .join(Bot, Bot.id == Program.bot_id)
        .where(ProgramDay.day == now.astimezone(UTC).date())
        .group_by(Bot.owner_id, bot_id)
    )
    return {
        (row.owner_id, row.bot_id): timedelta(milliseconds=int(row.cpu_ms))
        for row in connection.execute(query)
    }


def callable_programs(connection: Connection, ids: Collection[ProgramId]) -> Sequence[CallableRow]:
    """Those of these programs that may be called."""
    query = (
        select(*columns_of(CallableRow))
        .select_from(Program)
        .join(Bot, Bot.id == Program.bot_id)
        .where(*_MAY_PLAY, Program.id.in_(ids))
    )
    return read_rows(CallableRow, connection.execute(query))

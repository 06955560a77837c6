"""What programs use when they run, by days too, and the last lines that they have said."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, case, func, select, update

from meijin.store.programs.programs import belongs_to
from meijin.store.rows import add_row, read_row
from meijin.store.schema import (
    LIMIT_HIT,
    Bot,
    BotId,
    OwnerId,
    Program,
    ProgramDay,
    ProgramId,
    ProgramLog,
    ProgramUsage,
)

MAX_LOG_BYTES = 64 * 1024
"""Of the lines of a program that are kept, in UTF-8."""


def add_usage(
    connection: Connection, program_id: ProgramId, more: ProgramUsage, now: datetime
) -> None:
    """Add what runs have used since it was added last."""
    values: dict[str, object] = {
        "starts": Program.starts + more.starts,
        "cpu_ms": Program.cpu_ms + more.cpu_ms,
        "memory_bytes": case(
            (Program.memory_bytes < more.memory_bytes, more.memory_bytes),
            else_=Program.memory_bytes,
        ),
        "output_bytes": Program.output_bytes + more.output_bytes,
    }
    if more.limit:
        values["limit_hit"] = more.limit[:LIMIT_HIT]
    connection.execute(update(Program).where(Program.id == program_id).values(**values))
    _add_day(connection, program_id, more.cpu_ms, now)


def _add_day(connection: Connection, program_id: ProgramId, cpu_ms: int, now: datetime) -> None:
    day = now.astimezone(UTC).date()
    change = update(ProgramDay).where(ProgramDay.program_id == program_id, ProgramDay.day == day)
    if not connection.execute(change.values(cpu_ms=ProgramDay.cpu_ms + cpu_ms)).rowcount:
        add_row(connection, ProgramDay(program_id=program_id, day=day, cpu_ms=cpu_ms))


def cpu_today(
    connection: Connection, now: datetime, *, bot_id: BotId | None, owner_id: OwnerId | None
) -> timedelta:
    """The processor time of an owner's programs on this day, in UTC.

    Args:
        bot_id: Whose alone they are where there is no owner.
    """
    query = (
        select(func.coalesce(func.sum(ProgramDay.cpu_ms), 0))
        .select_from(ProgramDay)
        .join(Program, Program.id == ProgramDay.program_id)
        .join(Bot, Bot.id == Program.bot_id)
        .where(ProgramDay.day == now.astimezone(UTC).date(), belongs_to(bot_id, owner_id))
    )
    return timedelta(milliseconds=int(connection.scalar(query) or 0))


def read_log(connection: Connection, program_id: ProgramId) -> ProgramLog:
    """The last lines of a program; none where it has said nothing."""
    query = select(ProgramLog).where(ProgramLog.program_id == program_id)
    found = read_row(ProgramLog, connection.execute(query))
    return found or ProgramLog(program_id=program_id, text="")


def append_log(connection: Connection, program_id: ProgramId, lines: Sequence[str]) -> None:
    """Keep lines that a program has said, and drop the oldest of those that are too many."""
    if not lines:
        return
    # Of two writers one waits here for the other, so that neither's lines are lost.
    connection.execute(update(Program).where(Program.id == program_id).values(id=program_id))
    before = read_log(connection, program_id)
    text = before.text + "".join(f"{_plain(line)}\n" for line in lines)
    kept = _last_lines(text)
    is_cut = before.is_cut or len(kept) < len(text)
    change = update(ProgramLog).where(ProgramLog.program_id == program_id)
    if not connection.execute(change.values(text=kept, is_cut=is_cut)).rowcount:
        add_row(connection, ProgramLog(program_id=program_id, text=kept, is_cut=is_cut))


def _plain(line: str) -> str:
    """A line without control characters, which a terminal would obey, and PostgreSQL refuse."""
    return "".join(each for each in line if each.isprintable() or each == "\t")


def _last_lines(text: str) -> str:
    """The last lines that fit; of a line that does not fit by itself its end."""
    encoded = text.encode()
    if len(encoded) <= MAX_LOG_BYTES:
        return text
    kept = encoded[-MAX_LOG_BYTES:]
    _, line_feed, rest = kept.partition(b"\n")
    return (rest if line_feed and rest else kept).decode(errors="ignore")

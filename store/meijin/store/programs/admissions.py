"""Admissions: which program is examined next, by whom, and how that has ended.

A worker has a program for a while, and may write of it as long as no other has begun since: the
number of its attempt is in the condition of each of its updates.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, and_, func, or_, select, update

from meijin.store.access.versions import EngineRow, arrive, set_doctor_time
from meijin.store.programs.programs import ProgramRow, get_program, make_current
from meijin.store.programs.usage import append_log
from meijin.store.rows import columns_of, read_rows
from meijin.store.schema import (
    OPEN_STATES,
    REASON,
    Bot,
    Finding,
    Program,
    ProgramId,
    ProgramState,
)


def take_program(
    connection: Connection,
    now: datetime,
    lease_time: datetime,
    program_id: ProgramId | None = None,
) -> ProgramRow | None:
    """Take a program to examine it, until `lease_time`: this one, or the one that waits longest.

    One that another worker has had for longer than its lease waits like those that nobody has had.

    Returns:
        ``None`` where there is none to take.
    """
    waits = or_(
        Program.state == ProgramState.UPLOADED,
        and_(Program.state == ProgramState.CHECKING, Program.lease_time <= now),
    )
    query = select(Program.id, Program.attempts).where(waits)
    if program_id is not None:
        query = query.where(Program.id == program_id)
    for key, attempts in connection.execute(_in_order(query).limit(_TRIES)).all():
        change = (
            update(Program)
            .where(Program.id == key, waits, Program.attempts == attempts)
            .values(
                state=ProgramState.CHECKING,
                attempts=attempts + 1,
                lease_time=lease_time,
                findings=(),
                update_time=Program.update_time,  # its place among those that wait
            )
        )
        if connection.execute(change).rowcount:
            return get_program(connection, key)
    return None


_TRIES = 10
"""Programs that other workers may take between a look and the update."""


def set_findings(
    connection: Connection,
    taken: ProgramRow,
    findings: Collection[Finding],
    lease_time: datetime,
) -> bool:
    """Write what is found so far, and keep the program longer; false where it was taken away."""
    return _change(connection, taken, findings=tuple(findings), lease_time=lease_time)


def renew_lease(connection: Connection, taken: ProgramRow, lease_time: datetime) -> bool:
    """Keep the program longer, until `lease_time`; false where it was taken away."""
    return _change(connection, taken, lease_time=lease_time)


def admit(
    connection: Connection,
    taken: ProgramRow,
    findings: Collection[Finding],
    hello: dict[str, Any],
    now: datetime,
    *,
    label: str = "",
    lines: Sequence[str] = (),
) -> bool:
    """Admit a program, whose version is made; its bot plays with it, unless a newer one is admitted.

    The version is of the time of the upload: so long an admission takes, a class's deadline is met.

    Args:
        label: What the program itself calls its version.
        lines: What it has said.

    Returns:
        Whether it was still the worker's to admit.

    Raises:
        TooManyVersionsError: the bot has as many versions as it may have.
    """
    if not _end(connection, taken, ProgramState.ADMITTED, findings, now, hello=hello):
        return False
    append_log(connection, taken.id, lines)
    engine = EngineRow(taken.label or label, taken.digest, is_hosted=True)
    version = arrive(connection, taken.bot_id, engine, taken.create_time).version
    set_doctor_time(connection, version, now)
    newer = select(func.count()).where(
        Program.bot_id == taken.bot_id,
        Program.create_time > taken.create_time,
        Program.state == ProgramState.ADMITTED,
    )
    if not connection.scalar(newer):
        make_current(connection, taken)
    return True


def refuse(
    connection: Connection,
    taken: ProgramRow,
    findings: Collection[Finding],
    reason: str,
    now: datetime,
    *,
    lines: Sequence[str] = (),
) -> bool:
    """Refuse a program; false where it was no longer the worker's to refuse.

    Args:
        lines: What the program has said.
    """
    if not _end(connection, taken, ProgramState.REFUSED, findings, now, reason=reason[:REASON]):
        return False
    append_log(connection, taken.id, lines)
    return True


def open_admissions(
    connection: Connection, also: Collection[ProgramId] = ()
) -> Sequence[ProgramRow]:
    """The programs that are examined or wait for it, in their order; then `also` those given."""
    query = select(*columns_of(ProgramRow)).select_from(Program)
    query = query.join(Bot, Bot.id == Program.bot_id)
    is_open = Program.state.in_(OPEN_STATES)
    found = read_rows(ProgramRow, connection.execute(_in_order(query.where(is_open))))
    missing = set(also) - {row.id for row in found}
    if missing:
        found += read_rows(ProgramRow, connection.execute(query.where(Program.id.in_(missing))))
    return found


def _in_order(query: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    return query.order_by(Program.update_time, Program.id)


def _end(
    connection: Connection,
    taken: ProgramRow,
    state: ProgramState,
    findings: Collection[Finding],
    now: datetime,
    **values: object,
) -> bool:
    ended = {"state": state, "findings": tuple(findings), "update_time": now, "lease_time": None}
    return _change(connection, taken, **ended, **values)


def _change(connection: Connection, taken: ProgramRow, **values: object) -> bool:
    """Change a program that a worker has, if it still has it."""
    change = update(Program).where(
        Program.id == taken.id,
        Program.state == ProgramState.CHECKING,
        Program.attempts == taken.attempts,
    )
    return bool(connection.execute(change.values(**values)).rowcount)

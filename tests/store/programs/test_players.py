"""Programs that may be called for games."""

from __future__ import annotations

from datetime import datetime, timedelta

from tests.store.conftest import NOON, AddBots
from tests.store.programs.test_programs import add, new

from meijin.store import Database, bots
from meijin.store.access.owners import add_owner
from meijin.store.programs.players import callable_ids, callable_programs
from meijin.store.programs.programs import ProgramRow, make_current, set_state
from meijin.store.programs.usage import add_usage
from meijin.store.rows import change_row
from meijin.store.schema import (
    Bot,
    BotId,
    BotState,
    Owner,
    ProgramId,
    ProgramState,
    ProgramUsage,
)

DAY = timedelta(days=1)
QUOTA = timedelta(seconds=1)


def admitted(database: Database, bot_id: BotId) -> ProgramRow:
    """A program that its bot plays with."""
    row = add(database, new(bot_id))
    database.write(set_state, row, ProgramState.ADMITTED, NOON)
    database.write(make_current, row)
    return row


def found(database: Database, now: datetime = NOON) -> set[ProgramId]:
    return set(database.read(callable_ids, now, QUOTA))


def test_programs_that_bots_play_with_may_be_called(database: Database, add_bots: AddBots) -> None:
    """One that waits, that its bot does not play with, or whose bot is disabled may not."""
    ada, bob, eve, zoe = add_bots("ada", "bob", "eve", "zoe")
    row = admitted(database, ada)
    add(database, new(bob))
    other = add(database, new(eve))
    database.write(set_state, other, ProgramState.ADMITTED, NOON)
    banned = admitted(database, zoe)
    database.write(change_row, Bot, zoe, state=BotState.BANNED)
    assert found(database) == {row.id}
    (read,) = database.read(callable_programs, [row.id, banned.id])
    assert (read.bot, read.version_id, read.is_hidden) == ("ada", None, False)


def test_an_owner_has_a_quota_of_processor_time_a_day(
    database: Database, add_bots: AddBots
) -> None:
    """Of all its bots together, by what is said of it or by default."""
    (lone,) = add_bots("lone")
    eve = database.write(add_owner, "eve", NOON)
    ada, zoe = (database.write(bots.add_bot, name, NOON, owner_id=eve) for name in ("ada", "zoe"))
    rows = {bot_id: admitted(database, bot_id).id for bot_id in (lone, ada, zoe)}
    database.write(add_usage, rows[ada], ProgramUsage(cpu_ms=999), NOON)
    assert found(database) == set(rows.values())
    database.write(add_usage, rows[zoe], ProgramUsage(cpu_ms=1), NOON)
    assert found(database) == {rows[lone]}
    assert found(database, NOON + DAY) == set(rows.values())
    database.write(change_row, Owner, eve, program_cpu_quota=2)
    assert found(database) == set(rows.values())
    database.write(add_usage, rows[lone], ProgramUsage(cpu_ms=1000), NOON)
    assert found(database) == {rows[ada], rows[zoe]}

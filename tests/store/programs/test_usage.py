"""What programs have used, and what they have said."""

from __future__ import annotations

from datetime import timedelta

from tests.store.conftest import NOON, AddBots
from tests.store.programs.test_programs import add, get, new

from meijin.store import Database, bots
from meijin.store.access.owners import add_owner
from meijin.store.programs import usage
from meijin.store.programs.usage import MAX_LOG_BYTES
from meijin.store.schema import ProgramUsage

DAY = timedelta(days=1)


def test_usage_is_added_up(database: Database, add_bots: AddBots) -> None:
    """Of memory the most is kept, and of limits the last that was hit."""
    (ada,) = add_bots("ada")
    row = add(database, new(ada))
    for more in (
        ProgramUsage(1, 1000, 50, 7, "memory: 256 MiB"),
        ProgramUsage(1, 500, 80, 3, "start: 30 s"),
        ProgramUsage(0, 1, 60, 0),
    ):
        database.write(usage.add_usage, row.id, more, NOON)
    assert get(database, row.id).usage == ProgramUsage(2, 1501, 80, 10, "start: 30 s")


def test_processor_time_is_counted_by_days(database: Database, add_bots: AddBots) -> None:
    """Of all bots of an owner; of a bot without one by itself."""
    (bob,) = add_bots("bob")
    eve = database.write(add_owner, "eve", NOON)
    ada, zoe = (database.write(bots.add_bot, name, NOON, owner_id=eve) for name in ("ada", "zoe"))
    rows = {bot_id: add(database, new(bot_id)).id for bot_id in (ada, zoe, bob)}
    for bot_id, cpu_ms in ((ada, 1), (ada, 10), (zoe, 100), (bob, 7)):
        database.write(usage.add_usage, rows[bot_id], ProgramUsage(cpu_ms=cpu_ms), NOON)
    assert database.read(usage.cpu_today, NOON, bot_id=ada, owner_id=eve) == timedelta(
        milliseconds=111
    )
    assert database.read(usage.cpu_today, NOON, bot_id=bob, owner_id=None) == timedelta(
        milliseconds=7
    )
    assert database.read(usage.cpu_today, NOON + DAY, bot_id=ada, owner_id=eve) == timedelta(
        milliseconds=0
    )


def test_the_last_lines_are_kept(database: Database, add_bots: AddBots) -> None:
    """In whole lines, without characters that a terminal would obey."""
    (ada,) = add_bots("ada")
    row = add(database, new(ada))
    assert database.read(usage.read_log, row.id).text == ""
    database.write(usage.append_log, row.id, ["one\x1b[2J\x00", "zwölf\there"])
    kept = database.read(usage.read_log, row.id)
    assert (kept.text, kept.is_cut) == ("one[2J\nzwölf\there\n", False)
    line = "x" * 999
    database.write(usage.append_log, row.id, [line] * 100)
    database.write(usage.append_log, row.id, ["the end"])
    kept = database.read(usage.read_log, row.id)
    assert kept.is_cut
    assert MAX_LOG_BYTES - 1000 < len(kept.text.encode()) <= MAX_LOG_BYTES
    assert set(kept.text.splitlines()) == {line, "the end"}
    assert kept.text.endswith("x\nthe end\n")


def test_of_a_line_that_is_too_long_the_end_is_kept(database: Database, add_bots: AddBots) -> None:
    (ada,) = add_bots("ada")
    row = add(database, new(ada))
    database.write(usage.append_log, row.id, ["ö" * MAX_LOG_BYTES])
    kept = database.read(usage.read_log, row.id).text
    assert MAX_LOG_BYTES - 2 < len(kept.encode()) <= MAX_LOG_BYTES
    assert set(kept) == {"ö", "\n"}
